package shrag.settling;

import java.util.Collection;
import java.util.List;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.index.IndexService;
import org.elasticsearch.index.IndexSettingProvider;
import org.elasticsearch.plugins.Plugin;

/** Lets a cluster let go of deleted documents after a moment, and not after half a minute: the two intervals are
 * constants but for the tests of Elasticsearch, whose settings these are. */
public final class Settling extends Plugin {
    private static final List<Setting<?>> INTERVALS =
        List.of(IndexService.GLOBAL_CHECKPOINT_SYNC_INTERVAL_SETTING, IndexService.RETENTION_LEASE_SYNC_INTERVAL_SETTING);

    @Override
    public List<Setting<?>> getSettings() {
        return INTERVALS;
    }

    @Override
    public Collection<IndexSettingProvider> getAdditionalIndexSettingProviders(IndexSettingProvider.Parameters unused) {
        return List.of((name, stream, mode, project, now, asked, mappings, version, given) ->
            INTERVALS.forEach(interval -> given.put(interval.getKey(), "300ms")));
    }
}

package shrag.analysis;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.ko.KoreanPartOfSpeechStopFilter;
import org.apache.lucene.analysis.ko.POS;
import org.elasticsearch.plugin.Inject;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenFilterFactory;
import org.elasticsearch.plugin.settings.AnalysisSettings;
import org.elasticsearch.plugin.settings.ListSetting;

@NamedComponent("nori_part_of_speech")
public class NoriPartOfSpeech implements TokenFilterFactory {

    @AnalysisSettings
    public interface Settings {
        @ListSetting(path = "stoptags")
        List<String> stoptags();
    }

    private final Checked<Set<POS.Tag>> stopTags;

    @Inject
    public NoriPartOfSpeech(Settings settings) {
        stopTags = new Checked<>(() -> tags(settings.stoptags()));
    }

    @Override
    public TokenStream create(TokenStream tokens) {
        return new KoreanPartOfSpeechStopFilter(tokens, stopTags.get());
    }

    /** Reads full names of tags, "EP", and refuses groups of them, "E"; Lucene's own list where none is named. */
    private static Set<POS.Tag> tags(List<String> names) {
        return names.isEmpty()
            ? KoreanPartOfSpeechStopFilter.DEFAULT_STOP_TAGS
            : names.stream().map(POS::resolveTag).collect(Collectors.toUnmodifiableSet());
    }
}

package shrag.analysis;

import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.pattern.PatternReplaceFilter;
import org.elasticsearch.plugin.Inject;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenFilterFactory;
import org.elasticsearch.plugin.settings.AnalysisSettings;
import org.elasticsearch.plugin.settings.StringSetting;

@NamedComponent("pattern_replace")
public class PatternReplace implements TokenFilterFactory {

    @AnalysisSettings
    public interface Settings {
        @StringSetting(path = "pattern", defaultValue = "")
        String pattern();

        @StringSetting(path = "replacement", defaultValue = "")
        String replacement();
    }

    private final Pattern pattern;
    private final String replacement;

    @Inject
    public PatternReplace(Settings settings) {
        pattern = Pattern.compile(settings.pattern());
        replacement = settings.replacement();
    }

    @Override
    public TokenStream create(TokenStream tokens) {
        return new PatternReplaceFilter(tokens, pattern, replacement, true);
    }
}

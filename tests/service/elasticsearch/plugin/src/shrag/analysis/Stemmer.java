package shrag.analysis;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.elasticsearch.plugin.Inject;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenFilterFactory;
import org.elasticsearch.plugin.settings.AnalysisSettings;
import org.elasticsearch.plugin.settings.StringSetting;

/** The part of the official filter that is for English. */
@NamedComponent("stemmer")
public class Stemmer implements TokenFilterFactory {

    @AnalysisSettings
    public interface Settings {
        @StringSetting(path = "language", defaultValue = "porter")
        String language();
    }

    private static final Map<String, UnaryOperator<TokenStream>> STEMMERS = Map.of(
        "english", PorterStemFilter::new,
        "porter", PorterStemFilter::new,
        "possessive_english", EnglishPossessiveFilter::new);

    private final Checked<UnaryOperator<TokenStream>> stemmer;

    @Inject
    public Stemmer(Settings settings) {
        stemmer = new Checked<>(() -> stemmer(settings.language()));
    }

    @Override
    public TokenStream create(TokenStream tokens) {
        return stemmer.get().apply(tokens);
    }

    private static UnaryOperator<TokenStream> stemmer(String language) {
        UnaryOperator<TokenStream> stemmer = STEMMERS.get(language);
        if (stemmer == null) {
            throw new IllegalArgumentException(
                "stemmer for [" + language + "] is not in this test plugin, only " + STEMMERS.keySet());
        }
        return stemmer;
    }
}

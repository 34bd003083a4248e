package shrag.analysis;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.ko.KoreanTokenizer;
import org.apache.lucene.analysis.ko.KoreanTokenizer.DecompoundMode;
import org.apache.lucene.analysis.ko.dict.UserDictionary;
import org.elasticsearch.plugin.Inject;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenizerFactory;
import org.elasticsearch.plugin.settings.AnalysisSettings;
import org.elasticsearch.plugin.settings.BooleanSetting;
import org.elasticsearch.plugin.settings.ListSetting;
import org.elasticsearch.plugin.settings.StringSetting;

/** The official tokenizer but for `user_dictionary`, a file in the server's folder. */
@NamedComponent("nori_tokenizer")
public class NoriTokenizer implements TokenizerFactory {

    @AnalysisSettings
    public interface Settings {
        @StringSetting(path = "decompound_mode", defaultValue = "discard")
        String decompoundMode();

        @BooleanSetting(path = "discard_punctuation", defaultValue = true)
        boolean discardPunctuation();

        @ListSetting(path = "user_dictionary_rules")
        List<String> userDictionaryRules();

        @BooleanSetting(path = "lenient", defaultValue = false)
        boolean lenient();
    }

    private record Options(DecompoundMode decompoundMode, boolean discardPunctuation, UserDictionary userDictionary) {}

    private final Checked<Options> options;

    @Inject
    public NoriTokenizer(Settings settings) {
        options = new Checked<>(() -> new Options(
            DecompoundMode.valueOf(settings.decompoundMode().toUpperCase(Locale.ENGLISH)),
            settings.discardPunctuation(),
            userDictionary(settings.userDictionaryRules(), settings.lenient())));
    }

    @Override
    public Tokenizer create() {
        Options chosen = options.get();
        return new KoreanTokenizer(
            KoreanTokenizer.DEFAULT_TOKEN_ATTRIBUTE_FACTORY,
            chosen.userDictionary,
            chosen.decompoundMode,
            false,
            chosen.discardPunctuation);
    }

    /** Builds what Lucene reads, one rule a line; null (no dictionary) where no rule is left. */
    private static UserDictionary userDictionary(List<String> rules, boolean lenient) {
        StringBuilder lines = new StringBuilder();
        Set<String> terms = new HashSet<>();
        for (String rule : rules) {
            if (rule.isBlank() || rule.startsWith("#")) {
                continue;
            }
            String term = rule.strip().split("\\s+")[0];
            if (terms.add(term)) {
                lines.append(rule).append('\n');
            } else if (!lenient) {
                throw new IllegalArgumentException("Found duplicate term [" + term + "] in user dictionary");
            }
        }
        try {
            return lines.isEmpty() ? null : UserDictionary.open(new StringReader(lines.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

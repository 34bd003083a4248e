package shrag.analysis;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.elasticsearch.plugin.Inject;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenizerFactory;
import org.elasticsearch.plugin.settings.AnalysisSettings;
import org.elasticsearch.plugin.settings.IntSetting;
import org.elasticsearch.plugin.settings.ListSetting;

/** The official tokenizer for single characters, without its names of groups. */
@NamedComponent("char_group")
public class CharGroup implements TokenizerFactory {

    @AnalysisSettings
    public interface Settings {
        @ListSetting(path = "tokenize_on_chars")
        List<String> tokenizeOnChars();

        @IntSetting(path = "max_token_length", defaultValue = CharTokenizer.DEFAULT_MAX_WORD_LEN)
        int maxTokenLength();
    }

    private final Set<Integer> separators;
    private final int maxTokenLength;

    @Inject
    public CharGroup(Settings settings) {
        separators = settings.tokenizeOnChars().stream().map(name -> (int) name.charAt(0)).collect(Collectors.toSet());
        maxTokenLength = settings.maxTokenLength();
    }

    @Override
    public Tokenizer create() {
        return new CharTokenizer(Tokenizer.DEFAULT_TOKEN_ATTRIBUTE_FACTORY, maxTokenLength) {
            @Override
            protected boolean isTokenChar(int character) {
                return !separators.contains(character);
            }
        };
    }
}

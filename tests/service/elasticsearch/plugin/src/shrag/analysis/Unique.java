package shrag.analysis;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.lucene.analysis.FilteringTokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenFilterFactory;

/** Needed by the server itself: its index of users and API keys has an analyzer for email addresses. */
@NamedComponent("unique")
public class Unique implements TokenFilterFactory {

    @Override
    public TokenStream create(TokenStream tokens) {
        return new FirstOfEach(tokens);
    }

    private static final class FirstOfEach extends FilteringTokenFilter {

        private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
        private final Set<String> seen = new HashSet<>();

        FirstOfEach(TokenStream tokens) {
            super(tokens);
        }

        @Override
        protected boolean accept() {
            return seen.add(term.toString());
        }

        @Override
        public void reset() throws IOException {
            super.reset();
            seen.clear();
        }
    }
}

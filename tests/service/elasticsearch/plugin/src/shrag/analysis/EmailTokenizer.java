package shrag.analysis;

import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenizerFactory;

/** Needed by the server itself: its index of users and API keys has an analyzer for email addresses. */
@NamedComponent("uax_url_email")
public class EmailTokenizer implements TokenizerFactory {

    @Override
    public Tokenizer create() {
        return new UAX29URLEmailTokenizer();
    }
}

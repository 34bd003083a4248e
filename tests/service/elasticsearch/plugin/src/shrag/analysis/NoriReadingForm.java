package shrag.analysis;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.ko.KoreanReadingFormFilter;
import org.elasticsearch.plugin.NamedComponent;
import org.elasticsearch.plugin.analysis.TokenFilterFactory;

@NamedComponent("nori_readingform")
public class NoriReadingForm implements TokenFilterFactory {

    @Override
    public TokenStream create(TokenStream tokens) {
        return new KoreanReadingFormFilter(tokens);
    }
}

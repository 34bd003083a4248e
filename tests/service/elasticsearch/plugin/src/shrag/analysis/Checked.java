package shrag.analysis;

import java.util.function.Supplier;

/**
 * What is made of settings, or why it could not be.
 *
 * What a component's constructor throws reaches the client as a server error (500); what it throws when it is first
 * used, which is still while the index is created, as the bad request (400) that the official plugins answer with.
 */
final class Checked<T> {

    private T made;
    private IllegalArgumentException refusal;

    Checked(Supplier<T> make) {
        try {
            made = make.get();
        } catch (IllegalArgumentException e) {
            refusal = e;
        }
    }

    T get() {
        if (refusal != null) {
            throw refusal;
        }
        return made;
    }
}

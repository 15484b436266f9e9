package io.carillon.event;

import java.util.Locale;

/** The form in which a webhook carries a CloudEvent 1.0. */
public enum CloudEventMode {
    /** The body is a JSON object with the attributes and the data. */
    STRUCTURED,
    /** The body is the data, and headers that start with {@code ce-} are the attributes. */
    BINARY;

    /** Returns the mode in lower case, as it is stored and shown. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}

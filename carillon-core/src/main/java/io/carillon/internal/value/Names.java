package io.carillon.internal.value;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.regex.Pattern;

/**
 * The rules for names and keys. A valid name of a project, schedule, queue or handler is safe in URLs, logs
 * and SQL arrays.
 */
public final class Names {
    private static final Pattern NAME = Pattern.compile("[a-z0-9._-]{1,100}");
    private static final int KEY_LENGTH = 200;

    /** The start of the names of queues that belong to a webhook endpoint. No other run may use such a queue. */
    public static final String ENDPOINT_QUEUE_PREFIX = "endpoint.";

    private Names() {}

    /** Returns the name if it is valid; otherwise throws an exception that says which characters are allowed. */
    public static String check(String kind, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    "The %s name '%s' is not valid. Use 1 to 100 characters of a-z, 0-9, dot, underscore and hyphen."
                            .formatted(kind, shown(name)));
        }
        return name;
    }

    /** Returns whether {@link #check} accepts this name. */
    public static boolean isValid(String name) {
        return NAME.matcher(name).matches();
    }

    /**
     * Returns the key if it is valid. A key is text of the user: 1 to 200 characters, any except NUL
     * and unpaired surrogates.
     */
    public static String checkKey(String kind, String key) {
        if (key.isEmpty() || key.length() > KEY_LENGTH || !TextCleaner.isClean(key)) {
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    ("The %s '%s' is not valid. Use 1 to %d characters without NUL and unpaired surrogates."
                                    + " If the text is longer, use a hash of it.")
                            .formatted(kind, shown(key), KEY_LENGTH));
        }
        return key;
    }

    private static String shown(String name) {
        return TextCleaner.clean(name.length() > 60 ? name.substring(0, 60) + "…" : name);
    }
}

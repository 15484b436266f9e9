package io.carillon.value;

import java.util.regex.Pattern;

/** The rule for names of projects, schedules, queues and handlers; a name that passed it is safe in URLs, logs and SQL arrays. */
public final class Names {
    private static final Pattern NAME = Pattern.compile("[a-z0-9._-]{1,100}");
    private static final int KEY_LENGTH = 200;

    private Names() {}

    /** Returns the name, or says what a name may contain. */
    public static String check(String kind, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    "The %s name '%s' is not valid. Use 1 to 100 of the characters a-z, 0-9, dot, underscore and hyphen."
                            .formatted(kind, shown(name)));
        }
        return name;
    }

    /** Keys are the user's own text: any characters but NUL and lone surrogates, up to 200. */
    public static String checkKey(String kind, String key) {
        if (key.isEmpty() || key.length() > KEY_LENGTH || !Text.isClean(key)) {
            throw new CarillonException(
                    ErrorCode.INVALID_NAME,
                    "The %s '%s' is not valid. Use 1 to %d characters, without NUL and unpaired surrogates; hash what is longer."
                            .formatted(kind, shown(key), KEY_LENGTH));
        }
        return key;
    }

    private static String shown(String name) {
        return Text.clean(name.length() > 60 ? name.substring(0, 60) + "…" : name);
    }
}

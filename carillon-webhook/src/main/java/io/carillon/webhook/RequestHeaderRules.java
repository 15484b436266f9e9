package io.carillon.webhook;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The rules for headers that users set: no header may split a request, redirect it, or imitate a header of Carillon.
 */
final class RequestHeaderRules {
    private static final int MAX_HEADERS = 32;
    private static final Pattern NAME_PATTERN = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern VALUE_PATTERN =
            Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E\\t]{0,1998}[\\x21-\\x7E])?");
    private static final Set<String> RESERVED_NAMES = Set.of(
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "keep-alive",
            "te",
            "trailer",
            "upgrade",
            "expect",
            "accept-encoding",
            "http2-settings",
            "forwarded",
            "via");

    private RequestHeaderRules() {}

    /** Checks the headers. Returns them with lower-case names, in the same order. */
    static Map<String, String> checked(Map<String, String> headers) {
        if (headers.size() > MAX_HEADERS) throw refused("there must be at most " + MAX_HEADERS);
        Map<String, String> checked = new LinkedHashMap<>();
        headers.forEach((given, value) -> {
            String name = checkName(given);
            checkValue(name, value);
            if (checked.put(name, value) != null) throw refused("\"%s\" occurs twice".formatted(name));
        });
        return java.util.Collections.unmodifiableMap(checked);
    }

    /** Checks a header name. Returns it in lower case. */
    static String checkName(String given) {
        String name = given.toLowerCase(Locale.ROOT);
        if (!NAME_PATTERN.matcher(name).matches())
            throw refused("\"%s\" is not a valid header name".formatted(TextCleaner.clean(name, 60)));
        if (RESERVED_NAMES.contains(name)
                || name.startsWith("webhook-")
                || name.startsWith("carillon-")
                || name.startsWith("proxy-")) throw refused("\"%s\" is reserved for the sender".formatted(name));
        return name;
    }

    /** Checks a header value. The message does not contain the value, which may be a secret. */
    static void checkValue(String name, String value) {
        if (value == null || !VALUE_PATTERN.matcher(value).matches())
            throw refused(
                    "the value of \"%s\" must have between 1 and 2000 printable ASCII characters".formatted(name));
    }

    private static CarillonException refused(String why) {
        return new CarillonException(ErrorCode.INVALID_OPTION, "Invalid webhook headers: %s.".formatted(why));
    }
}

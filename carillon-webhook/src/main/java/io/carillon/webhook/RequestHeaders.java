package io.carillon.webhook;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Text;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The rule for headers that users set: nothing that could split a request, lead it elsewhere or pass for one of ours. */
final class RequestHeaders {
    private static final int MOST = 32;
    private static final Pattern NAME = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E\\t]{0,1998}[\\x21-\\x7E])?");
    private static final Set<String> OURS = Set.of(
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

    private RequestHeaders() {}

    /** The same with names in small letters, in their order. */
    static Map<String, String> checked(Map<String, String> headers) {
        if (headers.size() > MOST) throw refused("there are more than " + MOST);
        Map<String, String> checked = new LinkedHashMap<>();
        headers.forEach((given, value) -> {
            String name = given.toLowerCase(Locale.ROOT);
            if (!NAME.matcher(name).matches()) throw refused("'%s' is no name".formatted(Text.clean(name, 60)));
            if (OURS.contains(name)
                    || name.startsWith("webhook-")
                    || name.startsWith("carillon-")
                    || name.startsWith("proxy-")) throw refused("'%s' is set by the sender".formatted(name));
            checkValue(name, value);
            if (checked.put(name, value) != null) throw refused("'%s' is there twice".formatted(name));
        });
        return java.util.Collections.unmodifiableMap(checked);
    }

    /** The value itself is not repeated: it may be a secret. */
    static void checkValue(String name, String value) {
        if (value == null || !VALUE.matcher(value).matches())
            throw refused("the value of '%s' is not 1 to 2000 printable ASCII characters".formatted(name));
    }

    private static CarillonException refused(String why) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The headers of the webhook are refused: %s. Remove or change it.".formatted(why));
    }
}

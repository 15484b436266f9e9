package io.carillon.webhook.send;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.value.Text;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hc.core5.http.Header;

/** How much of a response is kept: few short headers without secrets, and the start of the body. */
final class Kept {
    static final int BODY = 4 * 1024;
    private static final int HEADERS = 24;
    private static final int VALUE = 200;
    /** What a verdict is made of comes first. */
    private static final Set<String> NEEDED = Set.of("retry-after", "date", "content-type");

    private static final Pattern SECRET =
            Pattern.compile("cookie|authenticat|authoriz|token|secret|passw|api-?key|session|signature|credential");

    private Kept() {}

    static Map<String, String> headers(Header[] all) {
        Map<String, String> kept = new LinkedHashMap<>();
        for (Header header : all) if (NEEDED.contains(name(header))) keep(header, kept);
        for (Header header : all) if (kept.size() < HEADERS) keep(header, kept);
        return kept;
    }

    private static void keep(Header header, Map<String, String> kept) {
        String name = name(header);
        String value = header.getValue();
        if (name.length() <= 60 && !SECRET.matcher(name).find())
            kept.putIfAbsent(name, printable(value == null ? "" : value, VALUE));
    }

    private static String name(Header header) {
        return header.getName().toLowerCase(Locale.ROOT);
    }

    /** As UTF-8 text; what is none becomes U+FFFD. */
    static String body(byte[] bytes, int length) {
        return printable(new String(bytes, 0, Math.min(length, BODY), UTF_8), BODY);
    }

    /** Control characters would be six times as long once they are written down. */
    private static String printable(String text, int limit) {
        StringBuilder clean = new StringBuilder(text.length());
        text.chars().forEach(c -> clean.append(c < ' ' && c != '\n' && c != '\t' ? '\uFFFD' : (char) c));
        return Text.clean(clean.toString(), limit);
    }
}

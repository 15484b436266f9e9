package io.carillon.webhook.send;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.internal.value.TextCleaner;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hc.core5.http.Header;

/** The kept part of a response: a few short headers without secrets, and the start of the body. */
final class ResponseExcerpt {
    static final int MAX_BODY_BYTES = 4 * 1024;
    private static final int MAX_HEADERS = 24;
    private static final int MAX_VALUE_LENGTH = 200;
    /** Kept first, because the verdict depends on these headers. */
    private static final Set<String> REQUIRED_HEADERS = Set.of("retry-after", "date", "content-type");

    private static final Pattern SECRET_NAME_PATTERN =
            Pattern.compile("cookie|authenticat|authoriz|token|secret|passw|api-?key|session|signature|credential");

    private ResponseExcerpt() {}

    static Map<String, String> headers(Header[] all) {
        Map<String, String> kept = new LinkedHashMap<>();
        for (Header header : all) if (REQUIRED_HEADERS.contains(name(header))) keep(header, kept);
        for (Header header : all) if (kept.size() < MAX_HEADERS) keep(header, kept);
        return kept;
    }

    private static void keep(Header header, Map<String, String> kept) {
        String name = name(header);
        String value = header.getValue();
        if (name.length() <= 60 && !SECRET_NAME_PATTERN.matcher(name).find())
            kept.putIfAbsent(name, printable(value == null ? "" : value, MAX_VALUE_LENGTH));
    }

    private static String name(Header header) {
        return header.getName().toLowerCase(Locale.ROOT);
    }

    /** Returns the body as UTF-8 text. Invalid bytes become U+FFFD. */
    static String body(byte[] bytes, int length) {
        return printable(new String(bytes, 0, Math.min(length, MAX_BODY_BYTES), UTF_8), MAX_BODY_BYTES);
    }

    /** Replaces control characters, each of which would need six characters in JSON. */
    private static String printable(String text, int limit) {
        StringBuilder clean = new StringBuilder(text.length());
        text.chars().forEach(c -> clean.append(c < ' ' && c != '\n' && c != '\t' ? '\uFFFD' : (char) c));
        return TextCleaner.clean(clean.toString(), limit);
    }
}

package io.carillon.internal.value;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules for the headers of events, and their stored form, a JSON object. Values are printable ASCII, so that they
 * are the same in HTTP, in Kafka and in logs.
 */
public final class EventHeaders {
    /** The number of headers that an event may have. */
    public static final int MAX_HEADERS = 16;

    private static final int MAX_VALUE = 1_000;
    private static final int MAX_TOTAL = 4_096;

    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E]*[\\x21-\\x7E])?");

    /** Names with a meaning of their own in CloudEvents, or in a record of Kafka. */
    private static final Pattern RESERVED = Pattern.compile("content-type|ce[_-].*");

    private static final Pattern STRING = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

    private EventHeaders() {}

    /** Returns an unmodifiable copy in the order of the names. */
    public static Map<String, String> sorted(Map<String, String> headers) {
        return headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(headers));
    }

    /** Returns the name if it is valid. */
    public static String checkName(String name) {
        Names.check("event header", name);
        if (RESERVED.matcher(name).matches())
            throw invalid(
                    "The event header name '%s' is reserved for CloudEvents. Choose another name.".formatted(name));
        return name;
    }

    /** Returns the headers, by name, if all are valid. No message contains a value. */
    public static Map<String, String> check(Map<String, String> headers) {
        Map<String, String> sorted = sorted(headers);
        int total = 0;
        for (Map.Entry<String, String> header : sorted.entrySet()) {
            String name = checkName(header.getKey());
            String value = header.getValue();
            if (value == null
                    || value.length() > MAX_VALUE
                    || !VALUE.matcher(value).matches())
                throw invalid(
                        ("The value of the event header '%s' must have 1 to %d printable ASCII characters, without"
                                        + " spaces at its ends. Put other text into the data.")
                                .formatted(name, MAX_VALUE));
            total += name.length() + value.length();
        }
        if (sorted.size() > MAX_HEADERS)
            throw invalid("An event must have at most %d headers (was %d).".formatted(MAX_HEADERS, sorted.size()));
        if (total > MAX_TOTAL)
            throw invalid("The headers of an event must have at most %d characters, names and values together (was %d)."
                    .formatted(MAX_TOTAL, total));
        return sorted;
    }

    private static CarillonException invalid(String message) {
        return new CarillonException(ErrorCode.INVALID_OPTION, message);
    }

    /** Returns the headers as a JSON object; null if there are none. */
    public static @Nullable String toJson(Map<String, String> headers) {
        if (headers.isEmpty()) return null;
        StringBuilder json = new StringBuilder();
        headers.forEach((name, value) -> {
            json.append(json.isEmpty() ? "{\"" : ",\"").append(name).append("\":\"");
            json.append(value.replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
        });
        return json.append('}').toString();
    }

    /** Reads the JSON object of stored headers; null is no header. */
    public static Map<String, String> parse(@Nullable String json) {
        if (json == null) return Map.of();
        Map<String, String> headers = new TreeMap<>();
        Matcher strings = STRING.matcher(json);
        while (strings.find()) {
            String name = strings.group(1);
            if (strings.find())
                headers.put(name, ESCAPE.matcher(strings.group(1)).replaceAll("$1"));
        }
        return Collections.unmodifiableMap(headers);
    }
}

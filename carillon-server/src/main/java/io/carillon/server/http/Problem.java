package io.carillon.server.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An answer that says what is wrong, in the form of RFC 9457: a stable code, what to do, and pointers to the parts of the request that are at fault. */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;
    static final String MEDIA_TYPE = "application/problem+json";

    /** One part of the request that is at fault; the pointer is a JSON pointer, or the name of a parameter or header. */
    public record Fault(String pointer, String detail) {}

    private final int status;
    private final String code;
    private final transient List<Fault> faults;
    private final transient Map<String, String> headers;

    private Problem(int status, String code, String detail, List<Fault> faults, Map<String, String> headers) {
        // Thrown to leave early, not to be read by its stack.
        super(detail, null, false, false);
        this.status = status;
        this.code = code;
        this.faults = List.copyOf(faults);
        this.headers = Map.copyOf(headers);
    }

    public static Problem of(int status, String code, String detail) {
        return new Problem(status, code, detail, List.of(), Map.of());
    }

    /** The request is understood, and this part of it cannot be. */
    public static Problem invalid(String pointer, String detail) {
        return of(422, "invalid-request", "A part of the request cannot be. See errors.")
                .at(pointer, detail);
    }

    /** There is no such thing, or it belongs to somebody else: both look the same. */
    public static Problem missing(String what) {
        return of(404, "not-found", "There is no such %s. List them to see those there are.".formatted(what));
    }

    /** The same with one more fault. */
    public Problem at(String pointer, String detail) {
        List<Fault> more = new ArrayList<>(faults);
        more.add(new Fault(pointer, detail));
        return new Problem(status, code, detail(), more, headers);
    }

    /** The same with one more header. */
    public Problem header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Problem(status, code, detail(), faults, more);
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    private String detail() {
        return String.valueOf(getMessage());
    }

    Answer answer(String requestId) {
        Doc body = new Doc()
                .put("type", "urn:carillon:problem:" + code)
                .put("title", code.replace('-', ' '))
                .put("status", status)
                .put("code", code)
                .put("detail", detail())
                .put("requestId", requestId);
        if (!faults.isEmpty())
            body.put(
                    "errors",
                    faults.stream()
                            .map(fault ->
                                    new Doc().put("pointer", fault.pointer()).put("detail", fault.detail()))
                            .toList());
        Answer answer = Answer.json(status, body).as(MEDIA_TYPE);
        for (Map.Entry<String, String> header : headers.entrySet())
            answer = answer.header(header.getKey(), header.getValue());
        return answer;
    }
}

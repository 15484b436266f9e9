package io.carillon.server.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An error response (RFC 9457): a stable code, a text that says what is wrong and what to do, and pointers to the parts
 * of the request that are wrong.
 */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;
    static final String MEDIA_TYPE = "application/problem+json";

    /**
     * One part of the request that is wrong.
     *
     * @param pointer a JSON pointer, or the name of a parameter or header
     * @param detail what is wrong and what is allowed
     */
    public record Fault(String pointer, String detail) {}

    private final int status;
    private final String code;
    private final transient List<Fault> faults;
    private final transient Map<String, String> headers;

    private Problem(int status, String code, String detail, List<Fault> faults, Map<String, String> headers) {
        // Without a stack trace: the exception is control flow.
        super(detail, null, false, false);
        this.status = status;
        this.code = code;
        this.faults = List.copyOf(faults);
        this.headers = Map.copyOf(headers);
    }

    public static Problem of(int status, String code, String detail) {
        return new Problem(status, code, detail, List.of(), Map.of());
    }

    /** Returns a problem with status 422: the request is well-formed, but this part of it is invalid. */
    public static Problem invalid(String pointer, String detail) {
        return of(422, "invalid-request", "A part of the request is invalid. The field \"errors\" says where.")
                .withFault(pointer, detail);
    }

    /**
     * Returns a problem with status 404: the resource does not exist or belongs to another project. The caller cannot
     * distinguish the two.
     */
    public static Problem notFound(String what) {
        return of(404, "not-found", "This %s does not exist. List the existing ones with GET.".formatted(what));
    }

    /** Returns a copy with one more fault. */
    public Problem withFault(String pointer, String detail) {
        List<Fault> more = new ArrayList<>(faults);
        more.add(new Fault(pointer, detail));
        return new Problem(status, code, detail(), more, headers);
    }

    /** Returns a copy with one more header. */
    public Problem withHeader(String name, String value) {
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

    ApiResponse toResponse(String requestId) {
        JsonObject body = new JsonObject()
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
                            .map(fault -> new JsonObject()
                                    .put("pointer", fault.pointer())
                                    .put("detail", fault.detail()))
                            .toList());
        ApiResponse response = ApiResponse.json(status, body).withMediaType(MEDIA_TYPE);
        for (Map.Entry<String, String> header : headers.entrySet())
            response = response.withHeader(header.getKey(), header.getValue());
        return response;
    }
}

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
    private final transient Map<String, Long> versions;
    private final transient Map<String, String> headers;

    private Problem(
            int status,
            String code,
            String detail,
            List<Fault> faults,
            Map<String, Long> versions,
            Map<String, String> headers) {
        // Without a stack trace: the exception is control flow.
        super(detail, null, false, false);
        this.status = status;
        this.code = code;
        this.faults = List.copyOf(faults);
        this.versions = Map.copyOf(versions);
        this.headers = Map.copyOf(headers);
    }

    public static Problem of(int status, String code, String detail) {
        return new Problem(status, code, detail, List.of(), Map.of(), Map.of());
    }

    /** Returns a problem with status 409: what the request changes has another version than the expected one. */
    public static Problem versionConflict(long expected, long actual, String detail) {
        return new Problem(
                409,
                "version-conflict",
                detail,
                List.of(),
                Map.of("expectedVersion", expected, "actualVersion", actual),
                Map.of());
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

    /**
     * Returns a problem with status 401, the same for every reason, so that callers cannot find out whether a key
     * exists, expired or was revoked.
     */
    public static Problem unauthenticated() {
        return of(
                        401,
                        "unauthenticated",
                        "No valid key. Send one as 'Authorization: Bearer crl_…'. Admins of the project create keys.")
                .withHeader("WWW-Authenticate", "Bearer");
    }

    static Problem readOnly() {
        return of(
                403,
                "read-only",
                "This server is read-only and refuses every change. Nothing was changed. Use another server of the same"
                        + " database, or start this one without the setting read-only.");
    }

    /** Returns the problem of a user who is not a member of the project, or of a project that does not exist. */
    public static Problem notMember() {
        return of(
                403,
                "not-a-member",
                "You are not a member of this project, or it does not exist. GET /v1/projects lists your projects; an"
                        + " admin of a project adds members.");
    }

    /** Returns a copy with one more fault. */
    public Problem withFault(String pointer, String detail) {
        List<Fault> more = new ArrayList<>(faults);
        more.add(new Fault(pointer, detail));
        return new Problem(status, code, detail(), more, versions, headers);
    }

    /** Returns a copy with one more header. */
    public Problem withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Problem(status, code, detail(), faults, versions, more);
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

    /** Returns the problem as JSON, with the id of the request. */
    public JsonObject toJson(String requestId) {
        JsonObject body = new JsonObject()
                .put("type", "urn:carillon:problem:" + code)
                .put("title", code.replace('-', ' '))
                .put("status", status)
                .put("code", code)
                .put("detail", detail())
                .put("requestId", requestId)
                .put("expectedVersion", versions.get("expectedVersion"))
                .put("actualVersion", versions.get("actualVersion"));
        if (!faults.isEmpty())
            body.put(
                    "errors",
                    faults.stream()
                            .map(fault -> new JsonObject()
                                    .put("pointer", fault.pointer())
                                    .put("detail", fault.detail()))
                            .toList());
        return body;
    }

    ApiResponse toResponse(String requestId) {
        ApiResponse response = ApiResponse.json(status, toJson(requestId)).withMediaType(MEDIA_TYPE);
        for (Map.Entry<String, String> header : headers.entrySet())
            response = response.withHeader(header.getKey(), header.getValue());
        return response;
    }
}

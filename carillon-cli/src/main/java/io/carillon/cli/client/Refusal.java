package io.carillon.cli.client;

import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/** What a server said no to, in words: its sentence, the parts that are at fault, what to do, and what to look for in its log. */
final class Refusal {
    private static final int SHOWN = 200;

    private Refusal() {}

    static Failure of(Endpoint endpoint, int status, HttpHeaders headers, String body, JsonNode problem) {
        String detail = problem.path("detail").stringValue("");
        if (detail.isEmpty()) return stranger(endpoint, status, body.strip());
        StringBuilder text = new StringBuilder(detail.replace(" See errors.", ""));
        for (JsonNode fault : problem.path("errors")) text.append(fault(fault, detail));
        text.append(advice(endpoint, status));
        headers.firstValue("Retry-After").ifPresent(seconds -> text.append("\nTry again in %s s.".formatted(seconds)));
        text.append("\n(%d %s, request %s)"
                .formatted(
                        status,
                        problem.path("code").stringValue(""),
                        problem.path("requestId").stringValue("unknown")));
        return new Failure(exit(status), clean(text.toString()));
    }

    private static String fault(JsonNode fault, String detail) {
        String pointer = fault.path("pointer").stringValue("");
        String why = fault.path("detail").stringValue("");
        return why.equals(detail) ? "\n  at " + pointer : "\n  %s: %s".formatted(pointer, why);
    }

    private static String advice(Endpoint endpoint, int status) {
        if (status == 401 && endpoint.key().isEmpty())
            return "\nNo key was sent. Set CARILLON_KEY or CARILLON_KEY_FILE, give --key-file, or make a profile with 'carillon profile set'. 'carillon dev' says at its start where its key lies.";
        if (status == 401)
            return "\nThe key was sent to %s and is wrong, expired or revoked. Check where it comes from: --key-file, CARILLON_KEY, CARILLON_KEY_FILE or the profile."
                    .formatted(endpoint);
        if (status == 403) return "\nAn admin makes one with 'carillon key create NAME --scope SCOPE'.";
        return "";
    }

    private static Failure stranger(Endpoint endpoint, int status, String body) {
        return new Failure(
                exit(status),
                clean("Something at %s answered %d, and it does not sound like Carillon: %s Check the address."
                        .formatted(endpoint, status, body.substring(0, Math.min(SHOWN, body.length())))));
    }

    private static int exit(int status) {
        return switch (status) {
            case 400, 413, 415, 422 -> ExitCode.USAGE;
            case 401, 403 -> ExitCode.REFUSED;
            case 404 -> ExitCode.MISSING;
            case 409, 412 -> ExitCode.CONFLICT;
            case 408, 504 -> ExitCode.TIMEOUT;
            case 502, 503 -> ExitCode.AWAY;
            default -> ExitCode.FAILED;
        };
    }

    /** A server is not trusted with the terminal. */
    private static String clean(String text) {
        return text.codePoints()
                .map(point -> point != '\n' && Character.isISOControl(point) ? '?' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}

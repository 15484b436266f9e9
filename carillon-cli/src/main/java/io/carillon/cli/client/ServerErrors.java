package io.carillon.cli.client;

import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import java.net.http.HttpHeaders;
import tools.jackson.databind.JsonNode;

/**
 * Converts an error response to a message: the detail, the invalid fields, the remedy, and the request id to find in
 * the log of the server.
 */
final class ServerErrors {
    private static final int MAX_SHOWN = 200;

    /** The sentence of the server that names the JSON field; the message shows the errors instead. */
    private static final String ERRORS_POINTER = " The field \"errors\" says where.";

    private ServerErrors() {}

    static CommandException toFailure(
            ServerConnection server, int status, HttpHeaders headers, String body, JsonNode problem) {
        String detail = problem.path("detail").stringValue("");
        if (detail.isEmpty()) return notCarillon(server, status, body.strip());
        StringBuilder text = new StringBuilder(detail.replace(ERRORS_POINTER, ""));
        for (JsonNode fault : problem.path("errors")) text.append(faultText(fault, detail));
        text.append(advice(server, status));
        headers.firstValue("Retry-After").ifPresent(seconds -> text.append("\nTry again in %s s.".formatted(seconds)));
        text.append("\n(%d %s, request %s)"
                .formatted(
                        status,
                        problem.path("code").stringValue(""),
                        problem.path("requestId").stringValue("unknown")));
        return new CommandException(exitCode(status), text.toString());
    }

    private static String faultText(JsonNode fault, String detail) {
        String pointer = fault.path("pointer").stringValue("");
        String why = fault.path("detail").stringValue("");
        return why.equals(detail) ? "\n  at " + pointer : "\n  %s: %s".formatted(pointer, why);
    }

    private static String advice(ServerConnection server, int status) {
        if (status == 401 && server.key().isEmpty())
            return "\nNo API key was sent. Set CARILLON_KEY or CARILLON_KEY_FILE, give --key-file, or create a "
                    + "profile with 'carillon profile set'. 'carillon dev' prints the path of its key file at "
                    + "the start.";
        if (status == 401)
            return ("\nThe API key sent to %s is wrong, expired or revoked. Check its source: --key-file, "
                            + "CARILLON_KEY, CARILLON_KEY_FILE or the profile.")
                    .formatted(server);
        if (status == 403) return "\nAn admin can create a key with 'carillon key create NAME --scope SCOPE'.";
        return "";
    }

    private static CommandException notCarillon(ServerConnection server, int status, String body) {
        return new CommandException(
                exitCode(status),
                "The response of %s with status %d is not from a Carillon server: %s Check the address."
                        .formatted(server, status, body.substring(0, Math.min(MAX_SHOWN, body.length()))));
    }

    private static int exitCode(int status) {
        return switch (status) {
            case 400, 413, 415, 422 -> ExitCode.USAGE;
            case 401, 403 -> ExitCode.REFUSED;
            case 404 -> ExitCode.NOT_FOUND;
            case 409, 412 -> ExitCode.CONFLICT;
            case 408, 504 -> ExitCode.TIMEOUT;
            case 502, 503 -> ExitCode.UNAVAILABLE;
            default -> ExitCode.FAILED;
        };
    }
}

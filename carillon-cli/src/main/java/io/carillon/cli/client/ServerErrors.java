package io.carillon.cli.client;

import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Converts an error response to a message: the detail, the invalid fields, the remedy, and the request id to find in
 * the log of the server.
 */
final class ServerErrors {
    private static final int MAX_SHOWN = 200;

    /** The sentence of the server that names the JSON field; the message shows the errors instead. */
    private static final String ERRORS_POINTER = " The field \"errors\" says where.";

    /** The sentence of the server about the request that lists what exists; the message names the command instead. */
    private static final String LIST_POINTER = " List the existing ones with GET.";

    private static final Map<String, String> LIST_COMMANDS = Map.of(
            "runs", "run list",
            "schedules", "schedule list",
            "queues", "queue list",
            "endpoints", "endpoint list",
            "keys", "key list",
            "projects", "project list",
            "bulk-actions", "bulk list");

    /** How the server says that the object of the path does not exist. */
    private static final Pattern MISSING = Pattern.compile("This ([a-z ]+) does not exist\\.");

    private ServerErrors() {}

    /** Returns the detail in the words of a command: with the name of a missing object, and options for parameters. */
    private static String inWordsOfCommands(String detail, String path) {
        String[] steps = path.replaceFirst("\\?.*", "").split("/", -1);
        String text = detail.replace(LIST_POINTER, list(path)).replace("send force=true", "give --force");
        Matcher missing = MISSING.matcher(text);
        if (steps.length < 4
                || !missing.lookingAt()
                || !steps[2].equals(missing.group(1).replace(' ', '-') + "s")) return text;
        String name = URLDecoder.decode(steps[3], StandardCharsets.UTF_8);
        return "The %s '%s' does not exist.%s".formatted(missing.group(1), name, text.substring(missing.end()));
    }

    private static String list(String path) {
        String command = LIST_COMMANDS.get(path.replaceFirst("^/v1/", "").replaceFirst("[/?].*", ""));
        return command == null ? "" : " 'carillon %s' shows those that exist.".formatted(command);
    }

    /** Returns the failure of a request to this path. */
    static CommandException toFailure(
            ServerConnection server, String path, int status, HttpHeaders headers, String body, JsonNode problem) {
        String detail = problem.path("detail").stringValue("");
        if (detail.isEmpty()) return notCarillon(server, status, body.strip());
        String text = status == 401 ? "No valid API key." : inWordsOfCommands(detail, path);
        return toFailure(
                server,
                status,
                text,
                problem,
                headers.firstValue("Retry-After")
                        .map("\nTry again in %s s."::formatted)
                        .orElse(""));
    }

    /** Returns the failure of a part of a request. */
    static CommandException toFailure(ServerConnection server, int status, JsonNode problem) {
        return toFailure(server, status, problem.path("detail").stringValue(""), problem, "");
    }

    private static CommandException toFailure(
            ServerConnection server, int status, String detail, JsonNode problem, String retryAdvice) {
        StringBuilder text = new StringBuilder(detail.replace(ERRORS_POINTER, ""));
        for (JsonNode fault : problem.path("errors")) text.append(faultText(fault, detail));
        text.append(advice(server, status)).append(retryAdvice);
        text.append("\n(%d %s, request %s)"
                .formatted(
                        status,
                        problem.path("code").stringValue(""),
                        problem.path("requestId").stringValue("unknown")));
        return new CommandException(exitCode(status), text.toString());
    }

    private static String faultText(JsonNode fault, String detail) {
        String pointer = fault.path("pointer").stringValue("");
        String why = fault.path("detail")
                .stringValue("")
                .replace("with POST /v1/endpoints.", "with 'carillon endpoint create NAME URL'.");
        return why.equals(detail) ? "\n  at " + pointer : "\n  %s: %s".formatted(pointer, why);
    }

    private static String advice(ServerConnection server, int status) {
        if (status == 401 && server.key().isEmpty())
            return "\nNo API key was sent. Set CARILLON_KEY or CARILLON_KEY_FILE, give --key-file, or create a "
                    + "profile with 'carillon profile set'. 'carillon serve' and 'carillon dev' print the path of "
                    + "their key file at the first start.";
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

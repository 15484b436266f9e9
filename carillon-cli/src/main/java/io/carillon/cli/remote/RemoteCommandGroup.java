package io.carillon.cli.remote;

import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.client.ServerConnection;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/**
 * A command group such as {@code schedule}, with the options and methods that all groups share. Without a subcommand,
 * it prints its help.
 */
abstract class RemoteCommandGroup implements Callable<Integer> {
    private static final long POLL_MILLIS = 2_000;

    final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "Profile that names the server. Default: $CARILLON_PROFILE, or the current profile.")
    private @Nullable String profile;

    @Option(
            names = "--url",
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description =
                    "Address of the server. Default: $CARILLON_URL, that of the profile, or http://127.0.0.1:8080.")
    private @Nullable String url;

    @Option(
            names = "--key-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the API key; - is standard input. Default: $CARILLON_KEY, $CARILLON_KEY_FILE, or "
                    + "that of the profile.")
    private @Nullable String keyFile;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            scope = ScopeType.INHERIT,
            description = "Maximum wait for a response. Default: ${DEFAULT-VALUE}.")
    private String timeout = "30s";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "table|json|yaml|name",
            defaultValue = "table",
            scope = ScopeType.INHERIT,
            description = "Output format. Default: ${DEFAULT-VALUE}.")
    private Format format = Format.TABLE;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help message and exit.")
    boolean help;

    RemoteCommandGroup(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(shell.out());
        return ExitCode.OK;
    }

    final ApiClient client() {
        return new ApiClient(
                ServerConnection.of(shell, new ServerConnection.Flags(profile, url, keyFile)),
                duration("--timeout", timeout));
    }

    static Duration duration(String flag, String text) {
        return Durations.parse(text)
                .filter(length -> !length.isZero() && !length.isNegative())
                .orElseThrow(() -> new UsageException(
                        "%s must be a duration such as 90s or 5m (was '%s').".formatted(flag, text)));
    }

    final Printer printer() {
        return new Printer(shell, format);
    }

    /** Prints a list. Reports on standard error if the server has more items. */
    private void list(ApiClient.Items found, String name, List<String> columns) {
        printer().printList(found.items(), name, columns);
        if (found.hasMore())
            shell.err()
                    .println("More than %d items exist; use --limit to print more."
                            .formatted(found.items().size()));
    }

    /** Prints a list once, or again on each change. */
    final int list(boolean watch, ListRequest request, String name, List<String> columns) {
        ApiClient apiClient = client();
        Supplier<ApiClient.Items> found = () -> apiClient.list(request.path, request.query, request.limit);
        if (!watch) {
            list(found.get(), name, columns);
            return ExitCode.OK;
        }
        Printer printer = printer();
        return show(true, () -> printer.listText(found.get().items(), name, columns));
    }

    /** A list on the server, and the maximum number of items. */
    record ListRequest(String path, Map<String, String> query, int limit) {}

    /** Prints the content once, or again on each change until the thread is interrupted. */
    final int show(boolean watch, Supplier<String> content) {
        if (!watch) {
            shell.out().println(content.get());
            return ExitCode.OK;
        }
        String last = "";
        while (!Thread.currentThread().isInterrupted()) {
            String now = poll(content, last);
            if (!now.equals(last)) shell.out().println(last.isEmpty() ? now : "\n" + now);
            last = now;
            pause(POLL_MILLIS);
        }
        return ExitCode.OK;
    }

    /** Returns the new content, or the last one while the server is unavailable: that must not end the watch. */
    private String poll(Supplier<String> content, String last) {
        try {
            return content.get();
        } catch (CommandException commandException) {
            boolean passing = commandException.exitCode() == ExitCode.UNAVAILABLE
                    || commandException.exitCode() == ExitCode.TIMEOUT;
            if (Thread.currentThread().isInterrupted()) return last;
            if (!passing || last.isEmpty()) throw commandException;
            shell.err().println("carillon: " + commandException.getMessage());
            return last;
        }
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Posts a change and prints the result. */
    final int postChange(String sentence, String name, String path, JsonNode body) {
        printer().printResult(sentence, client().post(path, body), name);
        return ExitCode.OK;
    }

    /** Deletes an item and prints the result. */
    final int deleteItem(String sentence, String name, String value, String path) {
        client().delete(path);
        printer().printResult(sentence, Map.of(name, value), name);
        return ExitCode.OK;
    }
}

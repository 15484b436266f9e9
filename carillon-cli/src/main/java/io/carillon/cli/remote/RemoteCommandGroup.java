package io.carillon.cli.remote;

import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Layout;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.client.ServerConnection;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
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
            names = "--wide",
            scope = ScopeType.INHERIT,
            description = "Do not cut tables to the width of the terminal, and show errors with all their frames.")
    private boolean wide;

    @Option(
            names = "--absolute",
            scope = ScopeType.INHERIT,
            description = "Show instants as they are, not as the time from now.")
    private boolean absolute;

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
        return new Printer(shell, new Layout(format, wide, absolute));
    }

    /** Prints a list once, or again on each change. */
    final int list(boolean watch, ListRequest request, String name, List<String> columns) {
        return list(watch, request, name, columns, UnaryOperator.identity());
    }

    /**
     * Prints a list like {@link #list(boolean, ListRequest, String, List)}. Tables show for each item the object that
     * {@code row} returns.
     */
    final int list(boolean watch, ListRequest request, String name, List<String> columns, UnaryOperator<JsonNode> row) {
        ApiClient apiClient = client();
        Printer printer = printer().rows(row);
        Supplier<ApiClient.Items> found = () -> apiClient.list(request.path, request.query, request.limit);
        if (watch) return show(true, () -> printer.listText(found.get().items(), name, columns));
        ApiClient.Items items = found.get();
        printer.printList(items.items(), name, columns);
        reportMore(items.hasMore(), request.limit);
        return ExitCode.OK;
    }

    /** Reports on standard error if the server has more items. */
    final void reportMore(boolean hasMore, int limit) {
        if (hasMore && format != Format.NAME)
            shell.err()
                    .println("More than %d %s; use --limit to print more."
                            .formatted(limit, limit == 1 ? "item exists" : "items exist"));
    }

    /** Prints a list of items with their names. */
    final int list(ListFlags flags, String path, String name, List<String> columns) {
        return list(flags.watch(), new ListRequest(path, Map.of(), flags.limit()), name, columns);
    }

    /** Prints an item once, or again on each change; the path has its collection and its name or id. */
    final int showItem(boolean watch, String name, String... path) {
        return showItem(watch, UnaryOperator.identity(), name, path);
    }

    /**
     * Prints an item like {@link #showItem(boolean, String, String...)}. A table shows the object that {@code shown}
     * returns.
     */
    final int showItem(boolean watch, UnaryOperator<JsonNode> shown, String name, String... path) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> {
            JsonNode item = apiClient.get(ApiClient.path(path));
            return printer.itemText(printer.isTable() ? shown.apply(item) : item, name);
        });
    }

    /** A list on the server, and the maximum number of items. */
    record ListRequest(String path, Map<String, String> query, int limit) {
        ListRequest {
            checkLimit(limit);
        }
    }

    static void checkLimit(int limit) {
        if (limit < 1) throw new UsageException("--limit must be at least 1 (was %d).".formatted(limit));
    }

    /** Prints these items once, or again on each change. */
    final int showList(
            boolean watch, Printer printer, Supplier<List<JsonNode>> items, String name, List<String> columns) {
        if (watch) return show(true, () -> printer.listText(items.get(), name, columns));
        printer.printList(items.get(), name, columns);
        return ExitCode.OK;
    }

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
            shell.err().println(Program.inText("carillon: " + commandException.getMessage()));
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

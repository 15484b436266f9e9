package io.carillon.cli.remote;

import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.client.Endpoint;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.value.Durations;
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
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A noun with its verbs: what all of them have in common. Without a verb it shows its help. */
abstract class RemoteGroup implements Callable<Integer> {
    private static final long WATCH_MILLIS = 2_000;

    final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "Which server, by the name of a profile. Default: $CARILLON_PROFILE, or the one in use.")
    private @Nullable String profile;

    @Option(
            names = "--url",
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = "Address of the server. Default: $CARILLON_URL, the profile's, or http://127.0.0.1:8080.")
    private @Nullable String url;

    @Option(
            names = "--key-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description =
                    "File with the key; - is standard input. Default: $CARILLON_KEY, $CARILLON_KEY_FILE, or the profile's.")
    private @Nullable String keyFile;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            scope = ScopeType.INHERIT,
            description = "How long to wait for an answer. Default: ${DEFAULT-VALUE}.")
    private String timeout = "30s";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "table|json|yaml|name",
            defaultValue = "table",
            scope = ScopeType.INHERIT,
            description = "Form of the answer. Default: ${DEFAULT-VALUE}.")
    private Format format = Format.TABLE;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help message and exit.")
    boolean help;

    RemoteGroup(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(shell.out());
        return ExitCode.OK;
    }

    final Client client() {
        return new Client(
                Endpoint.of(shell, new Endpoint.Flags(profile, url, keyFile)), duration("--timeout", timeout));
    }

    static Duration duration(String flag, String text) {
        return Durations.parse(text)
                .filter(length -> !length.isZero() && !length.isNegative())
                .orElseThrow(() ->
                        new UsageException("%s is '%s'. Write a duration such as 90s or 5m.".formatted(flag, text)));
    }

    final Printer printer() {
        return new Printer(shell, format);
    }

    static ObjectNode body() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Puts what was given, and leaves out what was not. */
    static ObjectNode with(ObjectNode body, String name, @Nullable String value) {
        return value == null ? body : body.put(name, value);
    }

    /** Shows a list, and says if it is not all of it. */
    private void list(Client.Items found, String name, List<String> columns) {
        printer().list(found.items(), name, columns);
        if (found.more())
            shell.err()
                    .println("There are more than these %d: --limit shows more."
                            .formatted(found.items().size()));
    }

    /** As many of a list as wanted, once, or anew whenever it changes. */
    final int list(boolean watch, Wanted wanted, String name, List<String> columns) {
        Client client = client();
        Supplier<Client.Items> found = () -> client.list(wanted.path, wanted.query, wanted.limit);
        if (!watch) {
            list(found.get(), name, columns);
            return ExitCode.OK;
        }
        Printer printer = printer();
        return shown(true, () -> printer.listed(found.get().items(), name, columns));
    }

    /** Which list, and how much of it. */
    record Wanted(String path, Map<String, String> query, int limit) {}

    /** Shows it once, or anew whenever it changes, until somebody interrupts it. */
    final int shown(boolean watch, Supplier<String> picture) {
        if (!watch) {
            shell.out().println(picture.get());
            return ExitCode.OK;
        }
        String last = "";
        while (!Thread.currentThread().isInterrupted()) {
            String now = lookedAt(picture, last);
            if (!now.equals(last)) shell.out().println(last.isEmpty() ? now : "\n" + now);
            last = now;
            pause(WATCH_MILLIS);
        }
        return ExitCode.OK;
    }

    /** A server that is away for a moment does not end the watch. */
    private String lookedAt(Supplier<String> picture, String last) {
        try {
            return picture.get();
        } catch (Failure failure) {
            boolean passing = failure.exit() == ExitCode.AWAY || failure.exit() == ExitCode.TIMEOUT;
            if (Thread.currentThread().isInterrupted()) return last;
            if (!passing || last.isEmpty()) throw failure;
            shell.err().println("carillon: " + failure.getMessage());
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

    /** Sends a change to one thing and tells about it. */
    final int changed(String sentence, String name, String path, JsonNode body) {
        printer().done(sentence, client().post(path, body), name);
        return ExitCode.OK;
    }

    /** It is gone. */
    final int gone(String sentence, String name, String value, String path) {
        client().delete(path);
        printer().done(sentence, Map.of(name, value), name);
        return ExitCode.OK;
    }
}

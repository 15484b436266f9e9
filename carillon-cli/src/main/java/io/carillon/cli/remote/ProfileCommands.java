package io.carillon.cli.remote;

import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Profiles;
import io.carillon.cli.client.ServerConnection;
import io.carillon.cli.remote.flags.JsonBody;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code carillon profile}. */
@Command(
        name = "profile",
        description = "Manage profiles: named servers with their API keys.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ProfileCommands implements Callable<Integer> {
    private final Shell shell;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    ProfileCommands(Shell shell) {
        this.shell = shell;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(shell.out());
        return ExitCode.OK;
    }

    @Command(
            description = "Create or replace a profile. The first profile becomes the current one.",
            mixinStandardHelpOptions = true,
            sortOptions = false)
    int set(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--url", paramLabel = "URL", required = true, description = "Address of the server.")
                    String url,
            @Option(
                            names = "--key-file",
                            paramLabel = "FILE",
                            description = "File with the API key; - is standard input.")
                    @Nullable
                    String keyFile) {
        String key = keyFile == null ? null : SecretFiles.read("--key-file", keyFile);
        Profiles profiles = Profiles.of(shell);
        profiles.put(new Profiles.Profile(name, ServerConnection.parseUrl(url).toString(), key));
        shell.out().println("Saved %s in %s.".formatted(name, profiles.file()));
        return ExitCode.OK;
    }

    @Command(description = "Make a profile the current one.", mixinStandardHelpOptions = true, sortOptions = false)
    int use(@Parameters(paramLabel = "NAME") String name) {
        Profiles.of(shell).use(name);
        shell.out().println("Using %s.".formatted(name));
        return ExitCode.OK;
    }

    @Command(
            description = "List profiles. The keys are not shown.",
            mixinStandardHelpOptions = true,
            sortOptions = false)
    int list(
            @Option(
                            names = {"-o", "--output"},
                            paramLabel = "table|json|yaml|name",
                            defaultValue = "table",
                            description = "Output format. Default: ${DEFAULT-VALUE}.")
                    Format format) {
        Profiles profiles = Profiles.of(shell);
        List<JsonNode> rows = new ArrayList<>();
        for (String name : profiles.names()) {
            Profiles.Profile profile = profiles.get(name);
            rows.add(JsonBody.emptyBody()
                    .put("name", name)
                    .put("url", profile.url())
                    .put("key", profile.key() == null ? "none" : "hidden")
                    .put("inUse", profiles.current().filter(name::equals).isPresent()));
        }
        new Printer(shell, format).printList(rows, "name", List.of("name", "url", "key", "inUse"));
        return ExitCode.OK;
    }

    @Command(description = "Delete a profile and its key.", mixinStandardHelpOptions = true, sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME") String name) {
        Profiles.of(shell).delete(name);
        shell.out().println("Deleted %s.".formatted(name));
        return ExitCode.OK;
    }
}

package io.carillon.cli;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.Terminal;
import io.carillon.cli.shell.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Mentions the completion once, after the first command that a user types in a terminal. */
final class CompletionHint {
    private static final Set<String> WITHOUT_HINT = Set.of("dev", "serve", "completion");

    private CompletionHint() {}

    static void show(Shell shell, String... args) {
        if (!Terminal.isPresent() || (args.length > 0 && WITHOUT_HINT.contains(args[0]))) return;
        try {
            Path directory = DataDirectory.of(shell).path();
            Path shown = directory.resolve("completion-hint");
            if (Files.exists(shown)) return;
            SecretFiles.createDirectory(directory);
            Files.createFile(shown);
        } catch (IOException | UsageException notStored) {
            // Without a place to remember it, the hint would come with each command.
            return;
        }
        String kind =
                shell.variable("SHELL").filter(path -> path.endsWith("zsh")).isPresent() ? "zsh" : "bash";
        shell.err()
                .println("Tip: 'source <(%s completion %s)' completes commands and options with the Tab key."
                        .formatted(Program.name(), kind));
    }
}

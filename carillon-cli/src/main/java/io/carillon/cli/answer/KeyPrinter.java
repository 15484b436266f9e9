package io.carillon.cli.answer;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints a new key. The server returns it only once. */
public final class KeyPrinter {
    private final Shell shell;
    private final Printer printer;

    public KeyPrinter(Shell shell, Printer printer) {
        this.shell = shell;
        this.printer = printer;
    }

    /**
     * Prints the key, or writes it to a file and prints the other fields.
     *
     * @param file null to print the key
     */
    public int show(JsonNode made, String name, @Nullable String file) {
        String key = made.path("key").stringValue("");
        if (file != null) {
            SecretFiles.write(DataDirectory.absolutePath("--to", file), key + "\n");
            ObjectNode rest = (ObjectNode) made.deepCopy();
            rest.remove("key");
            printer.printResult("The key was written to %s.".formatted(file), rest, name);
        } else {
            shell.err().println("The key is shown only once. Store it in a safe place.");
            // With -o name, the key itself is printed: the name alone would lose it.
            printer.printResult(key, made, "key");
        }
        return ExitCode.OK;
    }
}

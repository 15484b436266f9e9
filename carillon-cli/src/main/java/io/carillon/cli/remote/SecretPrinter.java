package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints a new key or secret. The server returns it only once. */
final class SecretPrinter {
    private final Shell shell;
    private final Printer printer;

    SecretPrinter(Shell shell, Printer printer) {
        this.shell = shell;
        this.printer = printer;
    }

    int show(JsonNode made, String name, @Nullable String file) {
        return show(made, "key", name, file);
    }

    /**
     * Prints the field with the secret, or writes it to a file and prints the other fields.
     *
     * @param file null to print the secret
     */
    int show(JsonNode made, String field, String name, @Nullable String file) {
        String word = field.equals("key") ? "key" : "secret";
        String key = made.path(field).stringValue("");
        if (file != null) {
            SecretFiles.write(DataDirectory.absolutePath("--to", file), key + "\n");
            ObjectNode rest = (ObjectNode) made.deepCopy();
            rest.remove(field);
            printer.printResult("The %s was written to %s.".formatted(word, file), rest, name);
        } else {
            shell.err().println("The %s is shown only once. Store it in a safe place.".formatted(word));
            // With -o name, the secret itself is printed: the name alone would lose it.
            printer.printResult(key, made, field);
        }
        return ExitCode.OK;
    }
}

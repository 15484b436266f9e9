package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints an endpoint after a change, with the secrets that the server generated and returns only once. */
final class EndpointPrinter {
    private final Shell shell;
    private final Printer printer;
    private final String sentence;

    EndpointPrinter(Shell shell, Printer printer, String sentence) {
        this.shell = shell;
        this.printer = printer;
        this.sentence = sentence;
    }

    /**
     * Prints the generated secrets, or writes the only one to a file and prints the other fields.
     *
     * @param file null to print the secrets
     */
    int show(JsonNode endpoint, @Nullable String file) {
        List<JsonNode> generated = endpoint.path("secrets")
                .valueStream()
                .filter(secret -> secret.has("value"))
                .toList();
        if (file != null) return write(endpoint, generated, file);
        if (generated.isEmpty()) {
            printer.printResult(sentence, endpoint, "name");
            return ExitCode.OK;
        }
        shell.err().println("A generated secret is shown only once. Store it in a safe place.");
        String text = generated.size() == 1
                ? value(generated.get(0))
                : generated.stream()
                        .map(secret -> secret.path("name").stringValue("") + " " + value(secret))
                        .collect(Collectors.joining("\n"));
        printer.printResult(text, endpoint, "name");
        return ExitCode.OK;
    }

    private int write(JsonNode endpoint, List<JsonNode> generated, String file) {
        if (generated.size() != 1)
            throw new UsageException(
                    "%s --to needs exactly one generated secret (was %d).".formatted(sentence, generated.size()));
        SecretFiles.write(DataDirectory.absolutePath("--to", file), value(generated.get(0)) + "\n");
        JsonNode rest = endpoint.deepCopy();
        rest.path("secrets").valueStream().forEach(secret -> ((ObjectNode) secret).remove("value"));
        printer.printResult("%s The secret was written to %s.".formatted(sentence, file), rest, "name");
        return ExitCode.OK;
    }

    private static String value(JsonNode secret) {
        return secret.path("value").stringValue("");
    }
}

package io.carillon.cli.answer;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Prints an endpoint after a change, with what its receiver needs: the secrets that the server generated and returns
 * only once, and new public keys.
 */
public final class EndpointPrinter {
    private final Shell shell;
    private final Printer printer;
    private final String sentence;

    public EndpointPrinter(Shell shell, Printer printer, String sentence) {
        this.shell = shell;
        this.printer = printer;
        this.sentence = sentence;
    }

    /**
     * Prints the generated secrets and new public keys, or writes the only one to a file and prints the other fields.
     *
     * @param isNew returns whether a secret with a public key is new
     * @param file null to print them
     */
    public int show(JsonNode endpoint, Predicate<JsonNode> isNew, @Nullable String file) {
        if (endpoint.has("paused"))
            shell.err()
                    .println(Program.inText("Its queue is paused (%1$s). 'carillon queue resume %2$s' resumes it."
                            .formatted(
                                    endpoint.at("/paused/reason").stringValue("no reason given"),
                                    endpoint.path("queue").stringValue(""))));
        List<JsonNode> generated = endpoint.path("secrets")
                .valueStream()
                .filter(secret -> secret.has("value") || (secret.has("publicKey") && isNew.test(secret)))
                .toList();
        if (file != null) return write(endpoint, generated, file);
        if (generated.isEmpty()) {
            printer.printResult(sentence, endpoint, "name");
            return ExitCode.OK;
        }
        if (generated.stream().anyMatch(secret -> secret.has("value")))
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
        String what = generated.get(0).has("value") ? "secret" : "public key";
        printer.printResult("%s The %s was written to %s.".formatted(sentence, what, file), rest, "name");
        return ExitCode.OK;
    }

    private static String value(JsonNode secret) {
        return secret.path(secret.has("value") ? "value" : "publicKey").stringValue("");
    }
}

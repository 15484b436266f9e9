package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The one moment in which a key or a secret can be seen. */
final class FreshKey {
    private final Shell shell;
    private final Printer printer;

    FreshKey(Shell shell, Printer printer) {
        this.shell = shell;
        this.printer = printer;
    }

    int show(JsonNode made, String name, @Nullable String file) {
        return show(made, "key", name, file);
    }

    /** The field that holds it, on the screen, or in a file and nowhere else. */
    int show(JsonNode made, String field, String name, @Nullable String file) {
        String word = field.equals("key") ? "key" : "secret";
        String key = made.path(field).stringValue("");
        if (file != null) {
            Secrets.write(DataHome.absolute("--to", file), key + "\n");
            ObjectNode rest = (ObjectNode) made.deepCopy();
            rest.remove(field);
            printer.done("The %s is in %s.".formatted(word, file), rest, name);
        } else {
            shell.err()
                    .println("This is the only time the %s is shown. Keep it where nobody else reads it."
                            .formatted(word));
            // Names alone would lose it: here it is what there is to name.
            printer.done(key, made, field);
        }
        return ExitCode.OK;
    }
}

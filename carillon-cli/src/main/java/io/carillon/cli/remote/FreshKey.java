package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.shell.DataHome;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The one moment in which a key can be seen. */
final class FreshKey {
    private final Shell shell;
    private final Printer printer;

    FreshKey(Shell shell, Printer printer) {
        this.shell = shell;
        this.printer = printer;
    }

    /** On the screen, or in a file and nowhere else. */
    int show(JsonNode made, String name, @Nullable String file) {
        String key = made.path("key").stringValue("");
        if (file != null) {
            Secrets.write(DataHome.absolute("--to", file), key + "\n");
            ObjectNode rest = (ObjectNode) made.deepCopy();
            rest.remove("key");
            printer.done("The key is in %s.".formatted(file), rest, name);
        } else {
            shell.err().println("This is the only time the key is shown. Keep it where nobody else reads it.");
            // Names alone would lose it: here it is what there is to name.
            printer.done(key, made, "key");
        }
        return ExitCode.OK;
    }
}

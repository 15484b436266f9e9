package io.carillon.cli.dev;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.cli.shell.Program;
import io.carillon.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Deletes the data of the development node, and explains when the user has to. */
final class DevReset {
    private final DevOptions options;

    DevReset(DevOptions options) {
        this.options = options;
    }

    /**
     * Deletes the database and, with it, the keys. Other files in the directory, such as the log of the node, stay.
     * Keys without a database stay too: the directory may be another one than the user meant.
     */
    void run(Consumer<String> print) {
        List<Path> deleted = EmbeddedPostgres.delete(options.postgres(), options.key(), options.masterKeys());
        String names =
                deleted.stream().map(path -> path.getFileName().toString()).collect(Collectors.joining(", "));
        print.accept(
                deleted.isEmpty()
                        ? "Nothing to delete in %s.".formatted(options.directory())
                        : "Deleted in %s: %s.".formatted(options.directory(), names));
    }

    /** Returns the failure with the command that helps; for a database named by the user, the failure as it is. */
    CarillonException explain(CarillonException failure) {
        if (failure.code() != ErrorCode.SCHEMA_CHANGED || options.url() != null) return failure;
        String data = options.directoryGiven()
                ? " --data " + DevServer.quoted(options.directory().toString())
                : "";
        return new CarillonException(
                failure.code(),
                ("The development data in %s was created by a pre-release of Carillon. There is no upgrade before"
                                + " version 0.1. Run %s dev --reset%s to delete it and start afresh.")
                        .formatted(options.directory(), Program.name(), data),
                failure);
    }
}

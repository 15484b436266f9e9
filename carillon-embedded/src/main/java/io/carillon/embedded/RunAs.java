package io.carillon.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** As whom PostgreSQL's programs run. PostgreSQL refuses root, so root's programs go in a disguise or as another user. */
record RunAs(List<String> prefix, int user, int group) {
    private static final int ROOT = 0;
    private static final int NOBODY = 65534;
    private static final int UNCHANGED = -1;
    private static final List<String> UNSHARE = List.of("unshare", "-U");

    static RunAs choose(Path data) throws IOException {
        if (Platform.WINDOWS) return direct();
        int owner = Files.exists(data) ? Trees.owner(data) : ROOT;
        if (currentUser() != ROOT)
            return nameless() && canUnshare() ? new RunAs(UNSHARE, UNCHANGED, UNCHANGED) : direct();
        // Data that an ordinary user made stays that user's.
        if (owner != ROOT && canBecome(owner)) return other(owner, Trees.group(data));
        if (canUnshare()) return unshared();
        if (canBecome(NOBODY)) return other(NOBODY, NOBODY);
        throw new EmbeddedPostgresException(
                "PostgreSQL refuses to run as root, and neither 'unshare -U' nor 'setpriv --reuid' works here. "
                        + "Run as an ordinary user, or use a PostgreSQL of your own (tests: set CARILLON_TEST_DATABASE_URL).");
    }

    static RunAs direct() {
        return new RunAs(List.of(), UNCHANGED, UNCHANGED);
    }

    /** In a user namespace without a map root looks like nobody to itself, and still owns its files. */
    static RunAs unshared() {
        return new RunAs(UNSHARE, ROOT, ROOT);
    }

    static RunAs other(int user, int group) {
        return new RunAs(become(user, group), user, group);
    }

    List<String> command(Path program, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.add(program.toString());
        command.addAll(List.of(arguments));
        return command;
    }

    boolean canEnter(Path directory) {
        return prefix.isEmpty() || Commands.succeeds(command(Path.of("test"), "-x", directory.toString()));
    }

    /** Makes the files ones that PostgreSQL accepts as its own. */
    void take(Path root) throws IOException {
        if (user != UNCHANGED && Trees.owner(root) != user) Trees.give(root, user, group);
    }

    /** The owner of a new file, since Java cannot be asked: names may be missing, and properties may be set. */
    static int currentUser() {
        try {
            Path probe = Files.createTempFile("carillon", ".uid");
            try {
                return Trees.owner(probe);
            } finally {
                Files.delete(probe);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to the temporary directory", e);
        }
    }

    /** initdb wants a name for its user; a container may run under a bare number. The namespace makes it nobody. */
    private static boolean nameless() {
        return System.getProperty("user.name", "?").equals("?");
    }

    private static boolean canUnshare() {
        return Commands.succeeds(List.of("unshare", "-U", "true"));
    }

    private static boolean canBecome(int user) {
        List<String> probe = new ArrayList<>(become(user, user));
        probe.add("true");
        return Commands.succeeds(probe);
    }

    private static List<String> become(int user, int group) {
        return List.of("setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups");
    }
}

package io.carillon.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The user under which PostgreSQL runs. PostgreSQL refuses to run as root, so for root it runs in a user namespace or
 * as another user.
 */
record RunAs(List<String> prefix, int user, int group) {
    private static final int ROOT = 0;
    private static final int NOBODY = 65534;
    private static final int UNCHANGED = -1;
    private static final List<String> UNSHARE = List.of("unshare", "-U");

    static RunAs choose(Path data) throws IOException {
        if (Platform.WINDOWS) return direct();
        int owner = Files.exists(data) ? DirectoryTrees.owner(data) : ROOT;
        if (currentUser() != ROOT)
            return isUnnamedUser() && canUnshare() ? new RunAs(UNSHARE, UNCHANGED, UNCHANGED) : direct();
        // Data that another user created stays owned by that user.
        if (owner != ROOT && canBecome(owner)) return asUser(owner, DirectoryTrees.group(data));
        if (canUnshare()) return unshared();
        if (canBecome(NOBODY)) return asUser(NOBODY, NOBODY);
        throw new EmbeddedPostgresException(
                "PostgreSQL refuses to run as root, and neither 'unshare -U' nor 'setpriv --reuid' works here. Run as"
                        + " another user, or use your own PostgreSQL server (in tests, set"
                        + " CARILLON_TEST_DATABASE_URL).");
    }

    static RunAs direct() {
        return new RunAs(List.of(), UNCHANGED, UNCHANGED);
    }

    /** In a user namespace without a mapping, root appears as user 65534 to the process and still owns its files. */
    static RunAs unshared() {
        return new RunAs(UNSHARE, ROOT, ROOT);
    }

    static RunAs asUser(int user, int group) {
        return new RunAs(setprivCommand(user, group), user, group);
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

    /** Changes the owner of the files to the user of the server, as PostgreSQL requires. */
    void takeOwnership(Path root) throws IOException {
        if (user != UNCHANGED && DirectoryTrees.owner(root) != user) DirectoryTrees.changeOwner(root, user, group);
    }

    /**
     * Returns the id of the current user, read from the owner of a new file. Java provides only the user name, which
     * may be missing or overridden by a property.
     */
    static int currentUser() {
        try {
            Path probe = Files.createTempFile("carillon", ".uid");
            try {
                return DirectoryTrees.owner(probe);
            } finally {
                Files.delete(probe);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to the temporary directory", e);
        }
    }

    /**
     * initdb requires a user name, but a container may run under an id without a name. In the namespace the user
     * has a name.
     */
    private static boolean isUnnamedUser() {
        return System.getProperty("user.name", "?").equals("?");
    }

    private static boolean canUnshare() {
        return Commands.succeeds(List.of("unshare", "-U", "true"));
    }

    private static boolean canBecome(int user) {
        List<String> probe = new ArrayList<>(setprivCommand(user, user));
        probe.add("true");
        return Commands.succeeds(probe);
    }

    private static List<String> setprivCommand(int user, int group) {
        return List.of("setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups");
    }
}

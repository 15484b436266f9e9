package io.carillon.embedded.internal.datadir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the state of processes that are not children of this process. */
public final class Processes {
    private static final Path ROOT = Path.of("/proc");
    private static final boolean LINUX = Files.isRegularFile(ROOT.resolve("self/stat"));

    private Processes() {}

    /** Returns whether the process runs. A zombie does not run; it only waits for its parent to read its exit code. */
    public static boolean isRunning(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false) && !isZombie(pid);
    }

    /**
     * Returns whether the process is the server of that data directory, which is the working directory of its server.
     * Empty if the operating system does not provide this.
     */
    public static Optional<Boolean> isServerOf(long pid, Path data) {
        if (!isRunning(pid)) return Optional.of(false);
        if (!name(pid).map(name -> name.startsWith("postgres")).orElse(true)) return Optional.of(false);
        try {
            return LINUX ? Optional.of(Files.isSameFile(ROOT.resolve(pid + "/cwd"), data)) : Optional.empty();
        } catch (IOException | SecurityException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> name(long pid) {
        try {
            if (LINUX) return Optional.of(Files.readString(ROOT.resolve(pid + "/comm")));
            return ProcessHandle.of(pid)
                    .flatMap(handle -> handle.info().command())
                    .map(command -> Path.of(command).getFileName().toString());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isZombie(long pid) {
        if (!LINUX) return false;
        try {
            // "pid (name) state ...": the name may contain any characters, so the state follows the last parenthesis.
            String stat = Files.readString(ROOT.resolve(pid + "/stat"));
            return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return false;
        }
    }
}

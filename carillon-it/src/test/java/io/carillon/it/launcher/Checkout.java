package io.carillon.it.launcher;

import io.carillon.it.architecture.SourceTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A small checkout with the real launcher and stubs for java, javac and mvn. The PATH contains only these stubs and a
 * few plain tools, so that a test can remove a tool.
 */
final class Checkout {

    private static final List<String> PLAIN_TOOLS = List.of(
            "awk", "cat", "date", "dirname", "find", "head", "mkdir", "mv", "readlink", "rm", "sed", "sh", "sleep");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Path root;
    private final Path tools;
    private final Map<String, String> environment = new TreeMap<>();

    /** The process id, the exit code and the output of one launcher call. */
    record Result(long pid, int exit, String out, String err) {}

    Checkout(Path folder) throws IOException {
        root = Files.createDirectory(folder.resolve("a checkout"));
        tools = Files.createDirectory(folder.resolve("tools"));
        Files.copy(SourceTree.here().root().resolve("carillon"), launcher(), StandardCopyOption.COPY_ATTRIBUTES);
        write("pom.xml", "<project/>");
        write(".mvn/jvm.config", "");
        write("carillon-cli/pom.xml", "<project/>");
        write("carillon-core/pom.xml", "<project/>");
        write("carillon-core/src/main/java/One.java", "class One {}");
        write("carillon-core/src/main/java/Two.java", "class Two {}");
        for (String tool : PLAIN_TOOLS) {
            tool(tool, "exec %s \"$@\"".formatted(plainTool(tool)));
        }
        java("17.0.15");
        tool("javac", "");
        maven("3.8.6", "echo jar >\"$out/carillon.jar\"");
        environment.put("PATH", tools.toString());
    }

    Path root() {
        return root;
    }

    Path launcher() {
        return root.resolve("carillon");
    }

    /** Installs a java stub that prints its version, or its process id, its directory and its arguments. */
    void java(String version) throws IOException {
        tool("java", javaScript(version, "java"));
    }

    /** Installs a java stub that also writes the archive of classes that it is asked for. */
    void javaThatWritesArchives() throws IOException {
        tool(
                "java",
                "case $1 in -XX:ArchiveClassesAtExit=*) echo x >\"${1#*=}\"; exit 0 ;; esac\n"
                        + javaScript("17.0.15", "java"));
    }

    /** Installs a second java stub and returns its directory for JAVA_HOME. */
    Path javaHome(String version) throws IOException {
        Path home = tools.resolveSibling("jdk");
        Files.createDirectories(home.resolve("bin"));
        script(home.resolve("bin/java"), javaScript(version, "java of JAVA_HOME"));
        script(home.resolve("bin/javac"), "");
        return home;
    }

    /** Installs an mvn stub that prints its version, or records the build and runs the body; $out is the target. */
    void maven(String version, String body) throws IOException {
        tool("mvn", """
                if [ "$1" = -v ]; then echo 'Apache Maven %s (0a1b2c)'; exit 0; fi
                out='%s'
                echo "$@" >>'%s'
                %s
                """.formatted(version, out(), builds(), body));
    }

    void without(String tool) throws IOException {
        Files.delete(tools.resolve(tool));
    }

    void environment(String name, String value) {
        environment.put(name, value);
    }

    List<String> buildsSoFar() throws IOException {
        return Files.exists(builds()) ? Files.readAllLines(builds()) : List.of();
    }

    /** Changes a file two seconds after the last build, so that file systems with coarse timestamps show the change. */
    void save(String path) throws IOException {
        Path file = write(path, "class Changed {}");
        later(file);
    }

    void delete(String path) throws IOException {
        Path file = root.resolve(path);
        Files.delete(file);
        later(file.getParent());
    }

    Result run(String... arguments) throws Exception {
        return run(launcher(), root, arguments);
    }

    Result run(Path launcher, Path directory, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile(tools, "out", ".txt");
        Path err = Files.createTempFile(tools, "err", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("The launcher did not end within 60 s. Its output: " + Files.readString(err));
        }
        return new Result(process.pid(), process.exitValue(), Files.readString(out), Files.readString(err));
    }

    Path write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private void later(Path file) throws IOException {
        FileTime built = Files.getLastModifiedTime(out().resolve("built-with"));
        Files.setLastModifiedTime(file, FileTime.from(built.toInstant().plusSeconds(2)));
    }

    private Path out() {
        return root.resolve("carillon-cli/target/fast");
    }

    private Path builds() {
        return tools.resolveSibling("builds.txt");
    }

    private static String javaScript(String version, String name) {
        return """
                if [ "$1" = -version ]; then echo 'openjdk version "%s" 2025-04-15' >&2; exit 0; fi
                echo "%s $$ in $PWD:" "$@"
                exit 7
                """.formatted(version, name);
    }

    private void tool(String name, String body) throws IOException {
        script(tools.resolve(name), body);
    }

    private static void script(Path file, String body) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static Path plainTool(String name) {
        for (String folder : List.of("/usr/bin", "/bin")) {
            Path file = Path.of(folder, name);
            if (Files.isExecutable(file)) {
                return file;
            }
        }
        throw new IllegalStateException("No " + name + " in /usr/bin or /bin. The launcher needs it.");
    }
}

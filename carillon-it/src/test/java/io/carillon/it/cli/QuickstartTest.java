package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import io.carillon.testkit.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows docs/quickstart.md: compiles and runs its program, and runs its shell commands unchanged. */
class QuickstartTest {
    private static final Path ROOT = SourceTree.here().root();
    private static final String PAGE = SourceTree.read(ROOT.resolve("docs/quickstart.md"));
    private static final String SERVE = "./carillon serve --database-url \"$DATABASE_URL\"\n";
    private static final boolean CURL = isInstalled("curl");
    private static final boolean PYTHON = isInstalled("python3");

    @TempDir
    Path folder;

    @Tag("slow")
    @Test
    void the_program_runs_and_executes_runs_that_the_server_enqueues() throws Exception {
        Files.writeString(
                folder.resolve("Hello.java"),
                blocks("## In your application", "java").get(0));
        try (TestDatabase database = TestDatabase.empty();
                CommandProcess hello = CommandProcess.shellCommand(
                        Map.of("DATABASE_URL", ServeCommandTest.url(database)),
                        folder.resolve("Hello.java").toString())) {
            hello.await("^Hello, queue!$");
            hello.await("^Hello, schedule!$");

            assertThat(blocks("## As a server", "sh")).contains(SERVE);
            try (CommandProcess serve = CommandProcess.start(
                    "serve", "--database-url", ServeCommandTest.url(database), "--listen", "127.0.0.1:0")) {
                String key = serve.awaitBootstrapKey();
                var port =
                        Pattern.compile("listening on (http://127.0.0.1:\\d+)").matcher(serve.err());
                assertThat(port.find()).isTrue();
                String output = runBlocks(port.group(1), key);

                hello.await("^Hello, server!$");
                if (CURL) hello.await("^Hello, curl!$");
                if (PYTHON) hello.await("^Hello, Python!$");
                assertThat(output)
                        .contains("Created tea: At 16:00 every day", "greet-often", "succeeded")
                        .doesNotContain("FAILED", "crl_");
                assertThat(serve.terminate()).isZero();
            }
            assertThat(hello.terminate()).isEqualTo(143);
        }
    }

    /** Runs the blocks for the second terminal, except the block that sets the key. */
    private String runBlocks(String url, String key) throws Exception {
        Path command = folder.resolve("carillon");
        Files.writeString(command, "#!/bin/sh\nexec %s \"$@\"\n".formatted(CommandProcess.shellCommand()));
        Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
        StringBuilder output = new StringBuilder();
        for (String block : blocks("## As a server", "sh")) {
            if (block.equals(SERVE) || block.startsWith("export CARILLON_KEY=") || (block.startsWith("curl ") && !CURL))
                continue;
            output.append(shell(block.replace("http://127.0.0.1:8080", url), url, key));
        }
        String python = blocks("## As a server", "python").get(0).replace("http://127.0.0.1:8080", url);
        Files.writeString(folder.resolve("enqueue.py"), python);
        if (PYTHON) output.append(shell("python3 enqueue.py", url, key));
        return output.toString();
    }

    private String shell(String lines, String url, String key) throws Exception {
        ProcessBuilder shell = new ProcessBuilder("sh", "-ec", lines)
                .directory(folder.toFile())
                .redirectErrorStream(true);
        // Each command is a short-lived JVM, so optimized compilation would not pay off.
        shell.environment().put("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        shell.environment()
                .putAll(Map.of("CARILLON_URL", url, "CARILLON_KEY", key, "CARILLON_HOME", folder.toString()));
        Process process = shell.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s%n%s", lines, output).isZero();
        return output;
    }

    @Test
    void the_versions_on_the_page_are_those_of_this_build() throws IOException {
        String parent = Files.readString(ROOT.resolve("pom.xml"));
        String dependencies = blocks("## In your application", "xml").get(0);

        for (String artifact : List.of("carillon-core", "HikariCP", "jackson-databind", "slf4j-simple")) {
            var version = Pattern.compile("<artifactId>" + artifact + "</artifactId>\\s*<version>([^<]+)</version>")
                    .matcher(dependencies);
            assertThat(version.find()).as(artifact).isTrue();
            assertThat(parent).containsPattern("version>" + Pattern.quote(version.group(1)) + "<");
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static List<String> blocks(String section, String language) {
        int start = PAGE.indexOf("\n" + section + "\n");
        int end = PAGE.indexOf("\n## ", start + 1);
        String text = PAGE.substring(start, end < 0 ? PAGE.length() : end);
        return Pattern.compile("```" + language + "\\n(.*?)```", Pattern.DOTALL)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}

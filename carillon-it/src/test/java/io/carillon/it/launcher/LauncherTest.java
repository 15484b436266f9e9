package io.carillon.it.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.launcher.Checkout.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script ./carillon, run with stubs for java and mvn. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the launcher is a POSIX shell script")
class LauncherTest {

    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void check_out() throws IOException {
        checkout = new Checkout(folder);
    }

    @Test
    void builds_without_checks_and_then_executes_java_with_the_arguments() throws Exception {
        Result result = checkout.run("serve", "two words", "");

        assertThat(checkout.buildsSoFar())
                .containsExactly("-q -B -f " + checkout.root() + "/pom.xml -Pfast -pl carillon-cli -am package");
        assertThat(result.out())
                .as("the same process, so that signals reach Java")
                .isEqualTo(("java %d in %s: -Dcarillon.command=%s -jar %s/carillon-cli/target/fast/carillon.jar"
                                + " serve two words \n")
                        .formatted(result.pid(), checkout.root(), checkout.launcher(), checkout.root()));
        assertThat(result.err())
                .startsWith("Building Carillon (first time: downloads dependencies)…\nBuilt in ")
                .endsWith(" s.\n");
        assertThat(result.exit()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dev", "cron", "schedule"})
    void starts_short_commands_quickly(String command) throws Exception {
        assertThat(checkout.run(command, "--help").out())
                .contains(": -XX:TieredStopAtLevel=1 ")
                .endsWith("carillon.jar " + command + " --help\n");
    }

    @Test
    void the_first_short_command_writes_an_archive_of_classes_that_the_next_ones_use() throws Exception {
        checkout.javaThatWritesArchives();
        Path archive = checkout.root().resolve("carillon-cli/target/fast/commands.jsa");

        Result first = checkout.run("run", "list");
        Awaitility.await().until(() -> Files.exists(archive));
        Result second = checkout.run("run", "list");

        assertThat(first.out()).doesNotContain("SharedArchiveFile");
        assertThat(second.out())
                .contains(": -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:SharedArchiveFile=" + archive + " ");
        assertThat(checkout.run("serve").out()).doesNotContain("SharedArchiveFile");
        checkout.environment("CARILLON_ARCHIVE", "off");
        assertThat(checkout.run("run", "list").out()).doesNotContain("SharedArchiveFile");

        checkout.environment("CARILLON_ARCHIVE", "");
        checkout.save("carillon-core/src/main/java/One.java");
        assertThat(checkout.run("cron").out()).as("the jars changed").doesNotContain("SharedArchiveFile");
        // The archive is written in the background; afterwards the directory of the test can be deleted.
        Awaitility.await().until(() -> Files.exists(archive));
    }

    @Test
    void commands_are_named_as_the_user_typed_them() throws Exception {
        assertThat(checkout.run("cron").out()).contains(" -Dcarillon.command=" + checkout.launcher() + " ");

        checkout.environment("PATH", checkout.root() + ":" + folder.resolve("tools"));
        assertThat(checkout.run("cron").out()).contains(" -Dcarillon.command=carillon ");
    }

    @Test
    void builds_and_starts_the_benchmark_as_a_separate_program() throws Exception {
        checkout.maven(
                "3.8.6",
                "echo jar >\"$out/../../../carillon-bench/target/fast/carillon-bench.jar\"; echo jar"
                        + " >\"$out/carillon.jar\"");

        Result result = checkout.run("bench", "drain", "--full");

        assertThat(checkout.buildsSoFar())
                .containsExactly("-q -B -f " + checkout.root() + "/pom.xml -Pfast -pl carillon-bench -am package");
        assertThat(result.out())
                .endsWith(
                        (": -Xmx1g -Dcarillon.bench.home=%s -jar %s/carillon-bench/target/fast/carillon-bench.jar drain"
                                        + " --full\n")
                                .formatted(checkout.root(), checkout.root()));
        assertThat(checkout.root().resolve("carillon-cli/target/fast/building")).doesNotExist();

        checkout.run("bench");
        checkout.run("dev");

        assertThat(checkout.buildsSoFar())
                .as("the command needs a build of its own")
                .hasSize(2);
    }

    @Test
    void does_not_build_again_while_nothing_changes() throws Exception {
        checkout.run();
        Result second = checkout.run();

        assertThat(checkout.buildsSoFar()).hasSize(1);
        assertThat(second.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pom.xml",
                "carillon-core/pom.xml",
                ".mvn/jvm.config",
                "carillon-core/src/main/java/One.java",
                "carillon-cli/src/main/resources/logback.xml",
            })
    void builds_again_when_a_file_changed(String path) throws Exception {
        checkout.run();
        checkout.save(path);
        Result second = checkout.run();

        assertThat(second.err()).startsWith("Building Carillon (sources changed)…\n");
        assertThat(checkout.buildsSoFar()).hasSize(2);
    }

    @Test
    void builds_again_when_a_source_was_deleted() throws Exception {
        checkout.run();
        checkout.delete("carillon-core/src/main/java/Two.java");
        checkout.run();

        assertThat(checkout.buildsSoFar()).hasSize(2);
    }

    @Test
    void ignores_tests_and_other_files() throws Exception {
        checkout.run();
        checkout.save("carillon-core/src/test/java/OneTest.java");
        checkout.save("README.md");
        checkout.run();

        assertThat(checkout.buildsSoFar()).hasSize(1);
    }

    @Test
    void builds_again_when_a_source_is_saved_during_the_build() throws Exception {
        checkout.maven(
                "3.8.6",
                "sleep 0.1; echo >\"$out/../../../carillon-core/src/main/java/One.java\"; echo jar"
                        + " >\"$out/carillon.jar\"");
        checkout.run();
        checkout.run();

        assertThat(checkout.buildsSoFar()).hasSize(2);
    }

    @Test
    void runs_through_links_and_from_any_folder() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere")).toRealPath();
        Path link = Files.createSymbolicLink(elsewhere.resolve("first"), Path.of("../a checkout/carillon"));
        Path second = Files.createSymbolicLink(elsewhere.resolve("second"), link);

        Result result = checkout.run(second, elsewhere, "dev");

        assertThat(result.out())
                .contains(" in " + elsewhere + ": ")
                .endsWith("a checkout/carillon-cli/target/fast/carillon.jar dev\n");
    }

    @Test
    void shows_the_output_of_a_failed_build_and_does_not_start_java() throws Exception {
        checkout.maven("3.8.6", "echo '[ERROR] One.java:3 missing semicolon'; exit 1");
        Result first = checkout.run();
        Result second = checkout.run();

        assertThat(first.exit()).isEqualTo(1);
        assertThat(first.out()).isEmpty();
        assertThat(first.err()).contains("[ERROR] One.java:3 missing semicolon\ncarillon: The build failed after ");
        assertThat(second.exit()).as("a failed build is tried again").isEqualTo(1);
        assertThat(checkout.buildsSoFar()).hasSize(2);
    }

    @Test
    void takes_over_the_lock_of_a_killed_build() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        checkout.write("carillon-cli/target/fast/building/pid", ended.pid() + "\n");

        assertThat(checkout.run().exit()).isEqualTo(7);
        assertThat(checkout.root().resolve("carillon-cli/target/fast/building")).doesNotExist();
    }

    @Test
    void honours_java_home() throws Exception {
        checkout.java("11.0.2");
        checkout.environment("JAVA_HOME", checkout.javaHome("21.0.8").toString());

        assertThat(checkout.run("dev").out()).startsWith("java of JAVA_HOME ");
    }

    @Test
    void reports_a_wrong_java_home() throws Exception {
        checkout.environment("JAVA_HOME", "/nowhere");

        refuses("JAVA_HOME is /nowhere, which contains no bin/java. Set it to a JDK 17 or newer, or unset it.");
    }

    @Test
    void reports_missing_java() throws Exception {
        checkout.without("java");

        refuses("Java was not found. Install a JDK 17 or newer and put it on the PATH, or set JAVA_HOME.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"11.0.2", "1.8.0_402"})
    void reports_java_that_is_too_old(String version) throws Exception {
        checkout.java(version);

        refuses("too old or does not report its version (openjdk version \"" + version
                + "\" 2025-04-15). Carillon needs a JDK 17 or newer");
    }

    @Test
    void reports_java_that_is_too_old_after_a_build_with_another_version() throws Exception {
        String newer = checkout.javaHome("17.0.15").toString();
        checkout.environment("JAVA_HOME", newer);
        checkout.run();
        checkout.environment("JAVA_HOME", "");
        checkout.java("11.0.2");

        Result result = checkout.run();

        assertThat(result.exit()).isEqualTo(1);
        assertThat(result.err()).contains("Carillon needs a JDK 17 or newer");
    }

    @Test
    void reports_a_missing_compiler() throws Exception {
        checkout.without("javac");

        refuses("No Java compiler was found (javac). Install a JDK 17 or newer");
    }

    @Test
    void reports_missing_maven() throws Exception {
        checkout.without("mvn");

        refuses("Maven was not found. Install Maven 3.8.6 or newer and put mvn on the PATH.");
    }

    @Test
    void reports_maven_that_is_too_old() throws Exception {
        checkout.maven("3.6.3", "exit 1");

        refuses("too old or does not report its version (Apache Maven 3.6.3 (0a1b2c)). Carillon needs Maven 3.8.6 or"
                + " newer.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.8.6", "3.9.0", "4.0.0-rc-4"})
    void accepts_newer_maven(String version) throws Exception {
        checkout.maven(version, "echo jar >\"$out/carillon.jar\"");

        assertThat(checkout.run().exit()).isEqualTo(7);
    }

    private void refuses(String message) throws Exception {
        Result result = checkout.run("dev");

        assertThat(result.err()).startsWith("carillon: ").contains(message);
        assertThat(result.exit()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(checkout.buildsSoFar()).isEmpty();
    }
}

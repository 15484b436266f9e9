package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The first command that a user types mentions the completion. */
class CompletionHintTest {
    private static final String TIP = "completion bash)' completes commands and options with the Tab key.";

    @TempDir
    Path home;

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs the program script of util-linux")
    void the_first_command_that_succeeds_in_a_terminal_mentions_the_completion_once() throws Exception {
        assumeThat(Path.of("/usr/bin/script")).exists();

        assertThat(inTerminal("cron nonsense")).doesNotContain(TIP);
        assertThat(inTerminal("cron @daily")).containsOnlyOnce(TIP);
        assertThat(inTerminal("cron @daily")).contains("At 00:00 every day").doesNotContain(TIP);
    }

    private String inTerminal(String words) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        "/usr/bin/script", "-qec", CommandProcess.shellCommand() + " " + words, "/dev/null")
                .redirectErrorStream(true);
        builder.environment()
                .putAll(Map.of(
                        "CARILLON_HOME", home.toString(), "SHELL", "/bin/sh", "TERM", "xterm", "COLUMNS", "200"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}

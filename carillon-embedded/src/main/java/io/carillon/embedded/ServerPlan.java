package io.carillon.embedded;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** All that is needed to start a server on a prepared cluster, any number of times. */
record ServerPlan(ClusterFiles files, Binaries binaries, RunAs runAs, List<String> settings, String password) {
    private static final Duration SIGNAL = Duration.ofSeconds(30);

    LogFile log() {
        return new LogFile(files.log());
    }

    Greeting greeting() {
        return new Greeting(files.data(), password);
    }

    Process launch(int port) throws IOException {
        List<String> command = new ArrayList<>(apartFromTerminal());
        command.addAll(
                runAs.command(binaries.program("postgres"), "-D", files.data().toString()));
        command.addAll(settings);
        command.addAll(List.of("-c", "port=" + port));
        Process process = Commands.prepare(command, binaries.home())
                .redirectOutput(log().append())
                .start();
        process.getOutputStream().close();
        return process;
    }

    /** Tells the server named in {@code postmaster.pid} to stop, and does not wait for it. */
    void signal(String mode) throws IOException {
        List<String> command = runAs.command(
                binaries.program("pg_ctl"),
                "stop",
                "-s",
                "-W",
                "-m",
                mode,
                "-D",
                files.data().toString());
        // A failure means that it is gone already, or shows when the wait for it runs out.
        int unused = Commands.run(Commands.prepare(command, binaries.home()).redirectOutput(log().append()), SIGNAL);
    }

    /** Ctrl-C goes to the whole process group: the server must not stop before the application has let go of it. */
    private static List<String> apartFromTerminal() {
        if (Platform.WINDOWS) return List.of();
        if (Commands.exists("setsid")) return List.of("setsid");
        return Commands.exists("perl") ? List.of("perl", "-e", "setpgrp(0,0); exec {$ARGV[0]} @ARGV") : List.of();
    }
}

package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import io.carillon.embedded.internal.datadir.LogFile;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The data needed to start a server on a prepared cluster, any number of times. */
record ServerLauncher(ClusterFiles files, Binaries binaries, RunAs runAs, List<String> settings, String password) {
    private static final Duration STOP_REQUEST_TIMEOUT = Duration.ofSeconds(30);

    LogFile log() {
        return new LogFile(files.log());
    }

    ServerVerifier verifier() {
        return new ServerVerifier(files.data(), password);
    }

    Process launch(int port) throws IOException {
        List<String> command = new ArrayList<>(ownProcessGroup());
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

    /** Requests the server named in {@code postmaster.pid} to stop, without waiting. */
    void requestStop(String mode) throws IOException {
        List<String> command = runAs.command(
                binaries.program("pg_ctl"),
                "stop",
                "-s",
                "-W",
                "-m",
                mode,
                "-D",
                files.data().toString());
        // A failure means that the server has already ended, or the caller's wait for its end times out.
        int unused = Commands.run(
                Commands.prepare(command, binaries.home()).redirectOutput(log().append()), STOP_REQUEST_TIMEOUT);
    }

    /**
     * Returns a command that starts the server in its own process group. Ctrl-C is sent to the whole group of the
     * application, and the server must not stop before the application has closed its connections.
     */
    private static List<String> ownProcessGroup() {
        if (Platform.WINDOWS) return List.of();
        if (Commands.exists("setsid")) return List.of("setsid");
        return Commands.exists("perl") ? List.of("perl", "-e", "setpgrp(0,0); exec {$ARGV[0]} @ARGV") : List.of();
    }
}

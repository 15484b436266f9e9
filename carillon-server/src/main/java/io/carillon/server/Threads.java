package io.carillon.server;

import java.time.Duration;

/** Makes the server's own threads; Jetty has its pool. */
final class Threads {
    private Threads() {}

    /** A daemon that does this now and then until it is interrupted. The task throws nothing. */
    static Thread every(Duration pause, Runnable task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) {
                            Thread.sleep(pause.toMillis());
                            task.run();
                        }
                    } catch (InterruptedException closing) {
                        // That is how it ends.
                    }
                },
                "carillon-server-janitor");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}

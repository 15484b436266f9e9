package io.carillon.server;

import java.time.Duration;

/** Makes the server's own threads; Jetty has its pool. */
final class Threads {
    private Threads() {}

    /** A task that may wait. */
    @FunctionalInterface
    interface Round {
        void run() throws InterruptedException;
    }

    /** A daemon that does this now and then until it is interrupted. The task throws nothing. */
    static Thread every(Duration pause, Runnable task) {
        return again("carillon-server-janitor", () -> {
            Thread.sleep(pause.toMillis());
            task.run();
        });
    }

    /** A daemon that does this again and again until it is interrupted. The task throws nothing else, and waits where there is nothing to do. */
    static Thread again(String name, Round task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) task.run();
                    } catch (InterruptedException closing) {
                        // That is how it ends.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}

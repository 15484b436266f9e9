package io.carillon.cli.client;

/** The threads of HTTP clients, which Java 17 cannot close. */
public final class HttpThreads {
    /** The end of the name of such a thread. If a version of Java changes it, commands end later. */
    private static final String SELECTOR = "-SelectorManager";

    private static final long MAX_STOP_MILLIS = 100;
    /** Threads that may start between counting and listing them. */
    private static final int SPARE = 8;

    private HttpThreads() {}

    /**
     * Ends the threads before the JVM exits. At its exit the JVM waits 300 ms for threads that wait in native code, as
     * these do.
     */
    public static void stop() throws InterruptedException {
        Thread[] threads = new Thread[Thread.activeCount() + SPARE];
        int count = Thread.enumerate(threads);
        for (int i = 0; i < count; i++) {
            if (!threads[i].getName().endsWith(SELECTOR)) continue;
            threads[i].interrupt();
            threads[i].join(MAX_STOP_MILLIS);
        }
    }
}

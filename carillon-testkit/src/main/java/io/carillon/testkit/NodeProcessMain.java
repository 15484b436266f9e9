package io.carillon.testkit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The main class of a {@link NodeProcess}. Calls the requested main class, and ends the JVM when the
 * parent process ends.
 */
final class NodeProcessMain {
    private static final int SHUTDOWN_SECONDS = 40;

    private NodeProcessMain() {}

    public static void main(String[] arguments) throws Throwable {
        daemon("carillon-node-parent", NodeProcessMain::endWithParent);
        try {
            Method main = Class.forName(arguments[0]).getMethod("main", String[].class);
            // Main classes inside a test class are usually not public.
            main.setAccessible(true);
            main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /**
     * Waits until standard input, a pipe from the parent, is closed. This happens when the parent closes it
     * or is killed.
     */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException e) {
            // Equivalent to a closed pipe.
        }
        daemon("carillon-node-halt", NodeProcessMain::haltLater);
        System.exit(0);
    }

    /** Prevents that a blocked shutdown hook leaves an orphaned process. */
    private static void haltLater() {
        try {
            TimeUnit.SECONDS.sleep(SHUTDOWN_SECONDS);
        } catch (InterruptedException e) {
            // Halt immediately.
        }
        Runtime.getRuntime().halt(1);
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}

package io.carillon.testkit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** What a {@link NodeProcess} really starts: the wanted main class, and a thread that ends the JVM when its parent is gone. */
final class NodeMain {
    private static final int DRAIN_SECONDS = 40;

    private NodeMain() {}

    public static void main(String[] arguments) throws Throwable {
        daemon("carillon-node-parent", NodeMain::endWithParent);
        try {
            Method main = Class.forName(arguments[0]).getMethod("main", String[].class);
            // Main classes that sit inside a test class are seldom public.
            main.setAccessible(true);
            main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /** Standard input is a pipe from the parent; it closes when the parent closes it, and also when the parent is killed. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException e) {
            // As good as closed.
        }
        daemon("carillon-node-halt", NodeMain::haltLater);
        System.exit(0);
    }

    /** A shutdown hook that hangs must not leave an orphan behind. */
    private static void haltLater() {
        try {
            TimeUnit.SECONDS.sleep(DRAIN_SECONDS);
        } catch (InterruptedException e) {
            // Then at once.
        }
        Runtime.getRuntime().halt(1);
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}

package io.carillon.spi;

/**
 * Receives the start and the end of each attempt that this process executes.
 *
 * <p>A node calls all listeners on one separate thread, in the order of the events and shortly after them. A slow
 * listener does not delay runs; while 100,000 events wait, further events are dropped, and the log says how many. If
 * {@link #isNonBlocking} returns true, the threads that start and end attempts call the listener themselves, and no
 * event is dropped. Without a node, {@code runDue} calls every listener on the threads of the call, mostly on the
 * thread of its caller, so a slow listener delays the call. An exception of a listener is logged and has no other
 * effect.
 *
 * <p>The end of an attempt is reported after it is stored, so the start of the next attempt may be reported first. An
 * attempt whose node died has no end event. The same holds for an attempt whose run the node handed back because it
 * stops, or lost to another node. The callback of an open attempt is not reported.
 */
@FunctionalInterface
public interface RunListener {
    /** Called before an attempt calls its handler, and after the end of an attempt is stored in the database. */
    void onRunEvent(RunEvent event);

    /**
     * Returns whether this listener returns immediately, without waiting for locks or I/O. The engine then calls it on
     * its own threads, possibly on several at the same time, and reports every event.
     */
    default boolean isNonBlocking() {
        return false;
    }
}

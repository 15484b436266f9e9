package io.carillon.spi;

/**
 * Receives the attempts of this node, in order, shortly after they happen. A slow or failing listener does not delay or
 * fail runs. A listener that falls far behind loses events, unless it is {@link #isNonBlocking}. The end of an attempt
 * is reported after it is stored, so the start of the next attempt may be reported first.
 */
@FunctionalInterface
public interface RunListener {
    /** Called before an attempt calls its handler, and after the end of an attempt is stored in the database. */
    void onRunEvent(RunEvent event);

    /**
     * Returns whether this listener returns immediately, without waiting for locks or I/O. The engine then calls it on
     * its own threads and reports every event.
     */
    default boolean isNonBlocking() {
        return false;
    }
}

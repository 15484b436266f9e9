package io.carillon.bench.child;

/** What another process is there for. */
public enum Role {
    /** A node that empties a queue. */
    NODE,
    /** An application that enqueues and has no node. */
    ENQUEUER,
    /** A node that holds many runs in a small heap. */
    HOLDER
}

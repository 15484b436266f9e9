package io.carillon.bench.child;

/** The role of a child process. */
public enum Role {
    /** A node that drains a queue. */
    NODE,
    /** An application that enqueues and has no node. */
    ENQUEUER,
    /** A node that holds many runs in a small heap. */
    HOLDER,
    /** The clients of a hostile project. */
    HOSTILE
}

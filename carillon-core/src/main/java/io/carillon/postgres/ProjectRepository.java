package io.carillon.postgres;

import io.carillon.store.ProjectStore;

/** Projects: everything belongs to one. */
final class ProjectRepository implements ProjectStore {
    private static final String ENSURE =
            "INSERT INTO carillon.project (project) VALUES (:project) ON CONFLICT DO NOTHING";

    private final Database database;

    ProjectRepository(Database database) {
        this.database = database;
    }

    @Override
    public void ensure(String project) {
        database.single(
                session -> session.query(ENSURE).text("project", project).update());
    }
}
